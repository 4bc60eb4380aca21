"""Constraints as records, one kind a file."""
