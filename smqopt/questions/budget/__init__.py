"""The least budget for a wanted amount, and the privacy that is necessary."""
