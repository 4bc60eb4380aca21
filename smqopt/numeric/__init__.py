"""Numbers: named tolerances, exact sums, and the one door from symbols to floating point."""
