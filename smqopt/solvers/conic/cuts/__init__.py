"""Linear rows that follow from convex constraints, and polishing with them."""
