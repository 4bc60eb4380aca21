"""Laws and dependence estimated from observations."""
