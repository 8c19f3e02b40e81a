"""No quantities: the tables compare measured fields of two cells."""
