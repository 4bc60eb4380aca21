"""Linear rows that follow from convex cvxpy constraints, and the polishing of conic answers with them."""
