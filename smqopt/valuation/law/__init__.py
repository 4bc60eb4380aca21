"""What every law answers, how it is named, and how it is checked."""
