"""The conic route, through cvxpy."""
