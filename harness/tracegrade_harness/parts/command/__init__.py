"""Verifiers that are commands of the suite."""
