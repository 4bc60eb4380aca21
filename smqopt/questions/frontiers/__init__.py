"""Purchased privacy against budget."""
