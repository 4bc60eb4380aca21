"""What encloses a law's acceptance and the tops of its Lagrangian."""
