# %% [markdown]
# # SHRED: the sender's window says how much a drop would hurt
#
# A lost packet hurts a flow with a small window most, because too few packets follow to repair it
# without a timeout. So each sender writes its congestion window into the packets that it sends. The
# router keeps an average of these windows, and RED's two thresholds move with a packet's window
# relative to that average. Packets with small windows are dropped later, those with large ones
# earlier. Nobody counts flows, and there is no fixed border between short and long.

# %%
from mousehole.paper import study

shred = study("shred", warmup="10s", duration="60s")

# %% [markdown]
# ## The figure
#
# Share of objects that are there after a time, at 95 % load. The text gives no points of its curves;
# it says how they lie, which the claim below judges.

# %%
shred.figure("4")

# %%
shred.claim("H5")

# %% [markdown]
# ## One knob: the weight of the average window
#
# With a weight of 1 the average is the last packet's window, and every packet looks average. Does
# SHRED still complete more objects within a second than RED, and RED more than drop-tail?

# %%
weights = {str(weight): {"scheme": {"shred": {"wc": weight}}} for weight in (0.0001, 0.002, 1.0)}
shred.turned("H7", "weight of the average window", weights)

# %% [markdown]
# ## Where it breaks
#
# With the Web alone the benefit for pages of several objects should be over 40 %.

# %%
shred.claim("H16")

# %% [markdown]
# ## Exercise
#
# What is left if no sender writes hints? Guess: is SHRED then drop-tail, RED, or neither? The next
# cell runs SHRED behind a marker that wipes the hints out, and compares its drops with RED's.

# %%
shred.claim("H1")

# %% [markdown]
# **Answer.** RED, packet for packet: a window that is not told counts as the average one, for which
# both thresholds stay where RED has them. So SHRED can be installed one host at a time.
