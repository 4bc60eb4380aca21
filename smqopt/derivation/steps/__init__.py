"""The steps of a derivation, one a file; each takes the argument and gives a step with its verdict."""
