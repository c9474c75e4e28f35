"""Runs of a lake in formats of other tools."""
