"""Scores how often agents change the rest of their plan."""
