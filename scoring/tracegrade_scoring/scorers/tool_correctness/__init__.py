"""Scores tool correctness: selection, parameters, sequence and utilization."""
