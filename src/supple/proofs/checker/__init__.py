"""Checking certificates, apart from everything that finds them; the format and every formula are in docs/certificates.md."""
