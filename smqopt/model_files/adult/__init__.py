"""The Adult data set: shipped counts, and the original file."""
