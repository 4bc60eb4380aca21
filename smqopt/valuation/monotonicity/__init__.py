"""Whether J and the hazard rate are non-decreasing."""
