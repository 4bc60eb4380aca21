"""Valuations that depend on the requirement, by a Gaussian copula."""
