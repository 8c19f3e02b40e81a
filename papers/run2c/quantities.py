"""RuN2C's quantities: all are measured as they are."""
