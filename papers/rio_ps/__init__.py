"""RIO-PS: Guo and Matta, 2001."""
