"""Verifiers: whether the state that a trial left is the one that was asked for."""
