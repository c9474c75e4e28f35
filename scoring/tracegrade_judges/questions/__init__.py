"""What judges are asked: one question for each sub-goal or answer that a verdict decides."""
