"""Owners of different laws who share one price."""
