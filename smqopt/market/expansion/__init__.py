"""Programs with laws in doubt, or minima in the objective, as ordinary ones."""
