# %% [markdown]
# # SFD: the first 15 kB of a flow go first
#
# Most Web transfers are short, and they wait behind a few long ones. An edge router counts the bytes
# of each flow and marks what comes after a threshold as OUT. Core routers drop OUT packets earlier
# than IN packets, so that a short flow hardly ever loses one. A lost packet costs a short flow a
# timeout, which is longer than all the rest of its transfer; that is where the gain comes from.
# What long flows pay is to be small, and a variant, S-SFD, gives some of it back to them.

# %%
from mousehole.paper import study

sfd = study("sfd", warmup="400s", duration="1600s")

# %% [markdown]
# ## The figure
#
# Mean latency by size. The curves of the paper are lost; the crosses are what its Table 6 implies.

# %%
sfd.figure("7")

# %% [markdown]
# ## One knob: the threshold
#
# Up to which size does SFD help? Published is about 40 KB with a threshold of 15 packets.

# %%
thresholds = {f"{n} packets": {"scheme": {"sfd": {"th": f"{n}p"}}} for n in (5, 15, 60)}
sfd.turned("S10", "threshold", thresholds)

# %% [markdown]
# ## Where it breaks
#
# S-SFD promotes every fourth packet of a long flow. It should take away 90 % of what 1 MB pays.

# %%
sfd.claim("S14")

# %% [markdown]
# ## Exercise
#
# Section 4 draws a second queueing: IN and OUT packets wait in two queues, and IN goes first. The
# text does not choose it. What does S14 become if it had? Guess, then run the next cell.

# %%
study("sfd", warmup="400s", duration="1600s", reading="priority").claim("S14")

# %% [markdown]
# **Answer.** All of the penalty goes: a long flow's promoted packets overtake its other ones, and
# short flows leave the link to it for longer. The crossing of S12 moves to where it is published as
# well. But then `claim("S6")` is a tenth of what is published: no reading has all of the paper.
