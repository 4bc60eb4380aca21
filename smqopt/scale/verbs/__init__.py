"""The verbs of the public door: of a market in memory, or in parts."""
