"""The sections of a report: each turns records into what its template shows."""
