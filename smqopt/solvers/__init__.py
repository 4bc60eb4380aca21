"""Routes to thresholds: the price search and the conic program."""
