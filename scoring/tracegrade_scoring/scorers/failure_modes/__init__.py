"""Finds the failure modes that attempts show."""
