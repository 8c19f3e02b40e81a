"""The experiments of Marin, Rossi & Zen (2020)."""
