"""LFP: Alcaraz, Gilly, Juiz and Puigjaner, 2011."""
