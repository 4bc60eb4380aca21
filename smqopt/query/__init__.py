"""Queries under personalised differential privacy: the P-E mechanism."""
