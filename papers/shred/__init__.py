"""SHRED: Hartling, Claypool and Kinicki, 2002."""
