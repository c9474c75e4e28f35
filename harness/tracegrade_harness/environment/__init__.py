"""Environments: what an agent can change, frozen once, restored for each trial, and compared."""
