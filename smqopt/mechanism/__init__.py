"""Algorithm 1: who is bought, and what each is paid."""
