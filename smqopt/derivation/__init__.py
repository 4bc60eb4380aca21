"""The symbolic story from a law to its thresholds, as checked steps."""
