"""Prices drawn at random, and with which chance each report sells."""
