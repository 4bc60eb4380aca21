"""Laws as symbolic expressions."""
