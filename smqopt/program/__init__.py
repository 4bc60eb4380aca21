"""The market, the program stated in cvxpy, and the record of a solution."""
