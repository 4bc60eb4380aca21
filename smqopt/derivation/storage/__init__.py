"""Derivations kept in memory and on disk."""
