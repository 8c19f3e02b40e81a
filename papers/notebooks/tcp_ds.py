# %% [markdown]
# # TCP-DS: the sender's own state says which packets must not be lost
#
# A sender knows when a loss would cost a timeout: while its window is small, in its first packet, and
# while it recovers. It marks such packets green, those of middling windows yellow, the rest red. Its
# host sends no more green and yellow than its contract allows, and the edge sees to that. Three lines
# of RED in the core drop red first. Applications need not say what they are.

# %%
from mousehole.paper import study

tcp_ds = study("tcp-ds", warmup="10s", duration="45s")

# %% [markdown]
# ## The figure
#
# Echo delays of remote logins, with all rates a tenth. The curves are lost; the claims below have
# what the text says of their height.

# %%
tcp_ds.figure("7")

# %% [markdown]
# ## One knob: up to which window a packet is green
#
# With a small one fewer packets of files are green, and fewer of them stand before an echo.

# %%
windows = {str(high): {"scheme": {"tcp-ds": {"high": high, "med": 2 * high}}} for high in (1, 4, 16)}
tcp_ds.turned("N9 TCP-DS", "window up to which packets are green, yellow to twice that", windows)

# %% [markdown]
# ## Where it breaks
#
# Echoes take far longer under TCP-DS than the published 800 ms.

# %%
tcp_ds.claim("N9")

# %% [markdown]
# ## Exercise
#
# All rates are a tenth of the other figures', but not the contracts of the hosts. What happens to
# echoes if the contracts are cut to a tenth as well: do they wait longer, for tokens, or less? Guess,
# then run the next cell.

# %%
cut = {"scheme": {"tcp-ds": {"high_rate": "25kbit", "med_rate": "50kbit"}}}
tcp_ds.turned("N9 TCP-DS", "contracts", {"as in the other figures": {}, "a tenth": cut})

# %% [markdown]
# **Answer.** Much less: with the large contracts nearly every packet is green, so that green ones are
# dropped too, and an echo that is lost waits for a timeout. A mark that everybody has is none.
