"""Laws made of laws: mixtures, truncations, one law an owner."""
