"""Systems of equations, linear and by Newton steps."""
