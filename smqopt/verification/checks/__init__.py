"""The checks of a judgement, and the weak-duality bound."""
