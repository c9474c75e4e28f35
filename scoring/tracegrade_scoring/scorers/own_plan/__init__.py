"""Scores an agent's progress in its own first plan."""
