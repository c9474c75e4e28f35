"""Sums, intervals, pass@k, tiers and the T-Score: what many scores say together."""
