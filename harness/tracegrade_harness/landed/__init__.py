"""Reads runs from the spans in a lake, as steps, before any tables are built from them."""
