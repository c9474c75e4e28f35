"""Trials: one run of an agent in an environment of its own, undisturbed or killed."""
