"""Doubles by their bits: tables between powers of two, and bins of numbers."""
