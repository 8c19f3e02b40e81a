"""Nothing beyond what is measured: tables compare fields of two cells."""
