"""Runs of a lake become mocked cases of a suite."""
