"""What truncated families share."""
