"""Verdicts of models on what no rule can settle, and how far they can be trusted."""
