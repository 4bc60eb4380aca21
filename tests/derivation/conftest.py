"""Derivations are made anew in tests, and nothing is kept in the home of who runs them."""

import os

os.environ["SMQOPT_CACHE"] = ""
