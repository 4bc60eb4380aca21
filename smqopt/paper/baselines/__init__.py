"""The mechanisms that the paper compares with."""
