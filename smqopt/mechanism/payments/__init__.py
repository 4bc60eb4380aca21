"""Payment rules."""
