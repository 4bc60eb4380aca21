"""One exact disciplined-convex form a law."""
