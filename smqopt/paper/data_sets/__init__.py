"""The data sets of the paper, read from their original files."""
