"""Derivations, certificates and outcomes as documents."""
