"""The paper's experiments: plan, trials and summary."""
