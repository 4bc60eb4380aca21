"""Queries, one kind a file."""
