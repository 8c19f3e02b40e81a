"""Programs for this repository itself: tests, benches, generated documents, checks."""
