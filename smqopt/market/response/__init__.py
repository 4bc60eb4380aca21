"""What owners answer to a price."""
