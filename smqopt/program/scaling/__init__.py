"""Programs compiled once, in units in which numbers are near 1."""
