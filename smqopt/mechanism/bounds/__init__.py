"""Bounds on what any mechanism can buy."""
