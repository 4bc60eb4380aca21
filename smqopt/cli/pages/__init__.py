"""Pages that are generated from the package."""
