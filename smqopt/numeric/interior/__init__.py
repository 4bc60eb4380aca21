"""Interior points: a quadratic with hinges, and the equations of a step."""
