"""Claims as data: equations with verdicts, in the letters of the legend."""
