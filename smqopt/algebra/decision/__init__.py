"""Whether a claim holds: exact algebra first, ball arithmetic where algebra ends."""
