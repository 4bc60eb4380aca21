"""What a derivation argues with, found from the law."""
