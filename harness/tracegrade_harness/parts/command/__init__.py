"""Verifiers that are commands of the suite's own."""
