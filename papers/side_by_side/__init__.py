"""The five papers' schemes, side by side under one traffic."""
