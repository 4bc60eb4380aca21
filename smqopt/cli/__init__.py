"""The command line: parses, calls, shows."""

from smqopt.cli._entry import main as main
