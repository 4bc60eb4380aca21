"""Laws as a derivation sees them, by formula or in pieces."""
