"""Scores how often agents change what is left of their plan."""
