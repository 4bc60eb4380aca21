"""The command line: parses, calls, shows."""
