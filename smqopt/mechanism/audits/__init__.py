"""Audits of outcome rules: truthfulness, participation and budget."""
