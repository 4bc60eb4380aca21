"""The certificate: judgement, claims, provenance and file."""
