"""What runs once over all parts."""
