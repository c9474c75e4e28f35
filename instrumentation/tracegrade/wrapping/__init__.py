"""Wrappers for callables of each kind, and the work that they do on a call."""
