# %% [markdown]
# # LFP: three labels, and a token for a flow that grows
#
# The first ten packets of a flow are green and go first. A later packet is green as well while a
# token bucket has tokens, which fills at a share of the link's rate; otherwise it is yellow. A flow in
# the longest few per cent of recent flows is an elephant, and red. Three queues serve green before
# yellow before red, each with a RED of its own. So a flow of medium length is not punished for being
# a little too long, as it would be behind one fixed border.

# %%
from mousehole.paper import study

lfp = study("lfp", warmup="100s", duration="900s")

# %% [markdown]
# ## The figure
#
# Overhead, which is what is sent and not delivered; the crosses are Table 1.

# %%
lfp.figure("9")

# %% [markdown]
# ## One knob: how many packets are green anyhow
#
# Published, LFP hits 0.4 times as many flows with a drop as drop-tail at heavy load. What if more
# of each flow goes first?

# %%
firsts = {f"{tau} packets": {"scheme": {"lfp": {"tau": tau}}} for tau in (2, 10, 40)}
lfp.turned("L5 LFP to DT", "green packets", firsts)

# %% [markdown]
# ## Where it breaks
#
# The paper says that the means of short flows do not differ substantially, and that RED's is below
# LFP's. Ours differ much, and LFP's is below RED's.

# %%
lfp.claim("L7")

# %% [markdown]
# ## Exercise
#
# Would a longer round trip make the means alike? Short flows take round trips, whatever the queue
# does. Guess the reduction at 120 ms, then run the next cell.

# %%
distances = {rtt: {"link": {"rtt": rtt}} for rtt in ("10ms", "120ms")}
lfp.turned("L7 small", "round trip", distances)

# %% [markdown]
# **Answer.** Yes, nearly: what queues take is a small part of a time that is mostly round trips.
# Published connections suggest such delays; the published drops do not come out with them.
