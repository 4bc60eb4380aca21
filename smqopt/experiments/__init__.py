"""Data sets and the markets drawn on them."""
