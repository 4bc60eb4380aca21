"""Interior points: a quadratic with hinges, the equations of a step, Newton steps."""
