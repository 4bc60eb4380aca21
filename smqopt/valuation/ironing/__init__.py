"""Convex hulls of cost curves, and answers on them."""
