"""What users add to OP2, as records: usable alike in `smq.solve`, in `Program` and in model files."""
