"""Metrics of users' own: read, checked, run with the built-in ones, and stored in lakes."""
