"""Interior points: quadratic and concave programs, and Newton steps."""
