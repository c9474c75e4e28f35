"""Reads a suite file: its shape, its problems, and its JSON Schema."""
