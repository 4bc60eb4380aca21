"""Interior points: a quadratic with hinges, a concave program, the equations of a step, Newton steps."""
