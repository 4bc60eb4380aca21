"""What each owner's requirement has been spent on, kept so that no crash and no second writer can hide a release."""
