"""Reads runs as steps from the spans in a lake, before any tables exist."""
