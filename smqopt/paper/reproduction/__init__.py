"""The page that compares the paper's experiments with their reproduction."""
