"""A market and its constraints in one form: rows, bounds and shared prices."""
