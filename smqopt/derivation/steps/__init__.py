"""The steps of a derivation: each makes a checked step from the argument."""
