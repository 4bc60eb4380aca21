"""Formulas, charts and pages as text: what documents are made with, whatever they speak of."""
