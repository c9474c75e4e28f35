"""Scores attempts against their task's graph of sub-goals."""
