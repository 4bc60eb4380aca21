"""Objectives as records, one kind a file."""
