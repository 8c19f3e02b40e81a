# %% [markdown]
# # RuN2C: two levels without any state
#
# The position of a packet in its flow stands in TCP's header, if hosts let their sequence numbers
# begin at round values. So a router can tell the first packets of a flow from later ones and keeps
# no table. The first go to one queue, the others to another, which waits for the first. Where sizes
# are such that what has lasted long will last longer, this shortens the mean time of all. Large
# flows, says the abstract, are treated as before.

# %%
from mousehole.paper import study

run2c = study("run2c", warmup="30s", duration="200s", seeds=10)

# %% [markdown]
# ## The figure
#
# Mean response time by size. The abstract prints no number to set beside it.

# %%
run2c.figure("1")

# %% [markdown]
# ## One knob: the threshold
#
# By how much do all transfers together come sooner?

# %%
thresholds = {f"{kb} kB": {"scheme": {"sfd": {"th": f"{kb}kB"}}} for kb in (5, 30, 300)}
run2c.turned("C3", "threshold", thresholds)

# %% [markdown]
# ## Where it breaks
#
# Somebody pays for what short transfers gain.

# %%
run2c.claim("C2")

# %% [markdown]
# ## Exercise
#
# What sets the price: the buffer, the load, or the threshold? Guess which of these changes brings
# large flows' times within a tenth of drop-tail's, then run the next cell.

# %%
changes = {
    "200 packets of buffer in place of 100": {"link": {"buffer": "200p"}},
    "used to 30 % in place of 80 %": {"traffic": {"load": 0.3}},
    "a threshold of 5 kB in place of 30": {"scheme": {"sfd": {"th": "5kB"}}},
}
run2c.turned("C2", "change", changes)

# %% [markdown]
# **Answer.** The load and the threshold: large flows wait while others send their first packets, and
# either leaves less of these. The buffer hardly matters. But with 5 kB less is gained, too (see the
# knob): treating large flows as before has a price of its own.
