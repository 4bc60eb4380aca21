"""Disciplined convexity: affine parts, curvature, and hints."""
