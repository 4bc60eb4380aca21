"""Sensitivities, and what another law would do."""
