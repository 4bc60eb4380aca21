"""Folders and files of outputs, each whole or absent."""
