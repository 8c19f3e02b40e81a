# %% [markdown]
# # 2LPS: a model chooses the threshold
#
# Flows that were served less than a threshold go before all others; each of the two levels shares
# the link. One threshold is all there is to set. If sizes and load are known, a queue with Poisson
# arrivals tells the mean response time for each threshold, so the best one can be computed. Whether
# two levels help at all depends on the sizes: it does where a flow that has lasted long will last
# longer yet, and not where all are alike.

# %%
from mousehole.paper import study

tlps = study("tlps", warmup="20s", duration="200s", seeds=10)

# %% [markdown]
# ## The figure
#
# Mean response time by threshold, with a heavy tail of sizes and with exponential ones. The abstracts
# print no numbers; dashed is the model, which is derived in `papers/tlps/README.md`.

# %%
tlps.figure("1")

# %% [markdown]
# ## One knob: the shape of the tail
#
# By which order do LAS, two levels and sharing come, from the smallest mean to the largest?

# %%
shapes = {str(shape): {"traffic": {"params": {"shape": shape}}} for shape in (1.5, 2.0, 100.0)}
tlps.turned("T1", "shape of Pareto sizes", shapes)

# %% [markdown]
# ## Where it breaks
#
# Measured gains should be slightly below the model's. The model's levels share; ours are two FIFOs.

# %%
tlps.claim("T3")

# %% [markdown]
# ## Exercise
#
# With exponential sizes the figure's dashed line is flat. What is its height, at a load of 0.8 with a
# mean of 60 kB on 10 Mb/s? Work it out, then run the next cell.

# %%
60e3 * 8 / 10e6 / (1 - 0.8)

# %% [markdown]
# **Answer.** 0.24 s: the time of a mean transfer on an empty link, 0.048 s, over one less the load.
# It is the same for every order of service that does not know what is left of a flow.
