"""The price search: one equation in the budget price."""
