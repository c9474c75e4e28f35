"""Asks judges all that the lake lacks of them, within a budget, and writes their verdicts."""
