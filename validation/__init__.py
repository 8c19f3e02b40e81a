"""Comparisons of the simulator with something outside it: ns-2, Linux, published numbers, the kernel."""
