"""What posted payments come to in one run, and what to reserve for them."""
