"""Parts on disk: read, written, named, and handed to workers."""
