"""Asks one judge one question: what it is told, what it may read, how its answer counts."""
