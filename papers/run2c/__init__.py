"""The experiments of Avrachenkov, Ayesta, Brown & Nyberg (2004)."""
