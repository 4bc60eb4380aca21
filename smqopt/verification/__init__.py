"""The judge: bounds, residuals and certificates."""
