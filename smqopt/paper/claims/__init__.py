"""What the paper says of its results, and what the results here say of that."""
