"""Exit codes of the command line."""

CHECK_FAILED = 1
"""Something that was checked does not hold."""
INPUT_WRONG = 2
"""The input, a file or the command line is wrong."""
INTERRUPTED = 130
"""The user stopped the program."""
