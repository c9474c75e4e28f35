"""Asks one judge one question: its prompt, its tools, and the checks of its answer."""
