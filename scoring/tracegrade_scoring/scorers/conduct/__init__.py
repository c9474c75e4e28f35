"""Scores how attempts went about it: repeats, recovery, endings."""
