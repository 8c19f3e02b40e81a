# Sizes in bytes and the share of flows that are no larger, invented for this example.
200      0.10
2000     0.50
15000    0.85
200000   1
