"""The checks of a verification, and the weak-duality bound."""
