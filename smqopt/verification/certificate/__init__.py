"""The certificate: verification, claims, provenance and file."""
