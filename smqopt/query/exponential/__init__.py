"""The exponential mechanism of P-E: scores, law and draw."""
