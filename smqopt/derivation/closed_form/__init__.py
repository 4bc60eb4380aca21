"""Closed forms as functions of arrays, and the threshold rule that is proved."""
