"""Sphinx configuration: MyST pages, and the reference from docstrings."""

import smqopt

project = "smqopt"
author = "The smqopt developers"
copyright = "2026, The smqopt developers"
version = release = smqopt.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
mathjax_path = ""
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_static_path = []
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
