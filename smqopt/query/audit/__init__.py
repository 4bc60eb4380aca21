"""Exact audits of privacy, and the loss that a release can cause."""
