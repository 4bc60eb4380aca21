"""The commands, one a module, loaded when they are called."""
