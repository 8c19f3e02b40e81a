"""Laboratories for real packets: namespaces that nobody else sees, delays, links and the flows through them.

`namespaces` makes them, `delay` and `paths` are networks between TUN devices, `bottleneck` wires two hosts
with a router between them, and `hosts` has the TCP transfers of both. `live` is the lab in which
`mousehole-live` is tried. `witness_run`, `transfers_run` and `scheme_run` are programs, each for one run;
they print JSON. `link_programs` is what runs behind `mousehole link`.
"""
