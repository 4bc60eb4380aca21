"""Solutions, their files, and thresholds from elsewhere."""
