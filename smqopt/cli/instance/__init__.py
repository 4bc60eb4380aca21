"""A model at work: its market, and what its owners report and hold."""
