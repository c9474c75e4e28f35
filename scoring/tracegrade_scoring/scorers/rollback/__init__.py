"""Scores whether a killed run can be undone, by the verdicts of kill tests."""
