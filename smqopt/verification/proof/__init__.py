"""Proofs of certificates in ball arithmetic."""
