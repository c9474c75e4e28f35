"""Processes of their own that build and score a lake while its pages are read."""
