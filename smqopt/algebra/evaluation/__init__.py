"""Formulas as functions of arrays, exact to the last digits."""
