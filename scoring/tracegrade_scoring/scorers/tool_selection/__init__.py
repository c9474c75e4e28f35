"""Scores tool selection: whether each decision point picked the right tool."""
