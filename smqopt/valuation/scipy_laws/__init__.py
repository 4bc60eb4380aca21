"""Laws taken from SciPy."""
