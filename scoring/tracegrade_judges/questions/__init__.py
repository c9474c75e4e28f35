"""The questions for judges: one for each sub-goal or answer that a verdict decides."""
