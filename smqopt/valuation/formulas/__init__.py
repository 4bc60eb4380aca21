"""Laws as formulas in symbols of their own, whole or in pieces."""
