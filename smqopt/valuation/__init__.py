"""Laws of valuations: one law a file, one contract for all."""
