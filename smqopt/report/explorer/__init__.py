"""The explorer: a page on which budget and limit can be moved."""
