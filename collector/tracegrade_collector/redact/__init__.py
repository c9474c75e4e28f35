"""Rows without secrets."""
