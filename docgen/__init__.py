"""Generates the pages of `docs/` that repeat what the code says: `make docs` runs it."""
