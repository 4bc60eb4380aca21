"""What a program buys as much of, or keeps as small, as it can: objectives as records."""
