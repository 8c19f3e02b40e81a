# %% [markdown]
# # RIO-PS: the border between short and long follows the traffic
#
# A short transfer suffers from losses more than a long one, since most of its losses end in a
# timeout. The edge counts packets of each flow and calls those up to a border Short. The border moves
# so that there are a given number of short flows for each long one. In the core one queue, RIO, drops
# Long packets by the length of all that waits, Short ones by that of Short packets alone.

# %%
from mousehole.paper import study

rio_ps = study("rio-ps")

# %% [markdown]
# ## The figure
#
# Why short ones suffer: time of a transfer by loss, simulated, and dashed by the paper's model.

# %%
rio_ps.figure("2")

# %% [markdown]
# ## One knob: where the border begins
#
# It moves by a packet every ten seconds, so that where it begins matters in a run of minutes. What
# share of their fair part of the link do short flows get?

# %%
borders = {f"{packets} packets": {"scheme": {"rio-ps": {"l_t": packets}}} for packets in (2, 20, 100)}
rio_ps.turned("M-3 RIO-PS", "first border", borders)

# %% [markdown]
# ## Where it breaks
#
# Published, drop-tail delivers the fewest packets and RIO-PS the most where load is higher; ours is
# the other way round, since our drop-tail fills the link.

# %%
rio_ps.claim("M-2")

# %% [markdown]
# ## Exercise
#
# Whole classes are one thing, single transfers another. By the model, more loss makes a transfer's
# time vary more if it is short. And if it has 1,000 packets? Guess, then run the next cell.

# %%
rio_ps.claim("M-5")

# %% [markdown]
# **Answer.** Less: a long transfer meets so many losses that they average out, while the time itself
# grows. A short one meets either none or a timeout.
