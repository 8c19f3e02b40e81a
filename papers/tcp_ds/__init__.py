"""TCP-DS: Noureddine and Tobagi, 2002."""
