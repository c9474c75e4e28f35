"""Doors: where an agent is asked to wait, so that it can be killed between two calls."""
