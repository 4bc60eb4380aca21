"""Laws in balls, and tables of them with a proved error."""
