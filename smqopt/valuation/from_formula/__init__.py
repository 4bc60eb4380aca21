"""Laws from a formula for F or f."""
