"""TOML files read strictly, with line numbers."""
