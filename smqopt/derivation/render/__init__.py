"""Derivations as HTML, LaTeX and Markdown."""
