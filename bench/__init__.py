"""Times and instruction counts, for people; nothing of the product imports them. `make bench` runs them."""
