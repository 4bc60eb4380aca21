"""The work of a command, before anything is shown."""
