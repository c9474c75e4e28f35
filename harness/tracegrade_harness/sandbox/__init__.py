"""Sandboxes start an agent so that all processes that it starts can be ended with it."""
