"""The error of an answer: what it is expected to be, and what it costs."""
