"""Expressions read from text, renamed, measured and simplified."""
