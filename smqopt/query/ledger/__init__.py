"""What each owner's requirement has been spent on, safe from crashes."""
