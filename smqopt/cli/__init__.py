"""The command line: parses, calls, shows."""

from smqopt.cli.entry import main

__all__ = ["main"]
