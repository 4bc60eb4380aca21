"""The statements of the paper that fail, each as an executable entry."""
