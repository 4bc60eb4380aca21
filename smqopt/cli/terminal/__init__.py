"""What a terminal shows: options, output and progress."""
