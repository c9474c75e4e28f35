"""Tapes: what services outside of an environment answered, to be answered again."""
