"""Named families of laws, one a file."""
