"""The linear release: a weighted sum of the bought entries and one Laplace draw."""
