"""Sandboxes: how an agent is started so that all that it starts can be ended with it."""
