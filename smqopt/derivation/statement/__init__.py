"""Steps as data, and laws in words."""
