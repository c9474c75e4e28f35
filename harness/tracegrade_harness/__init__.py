"""The harness: runs agents in restored environments, kills them on purpose, and proves the state.

It runs and observes; it scores nothing. Its observations become spans and verdicts in a lake.
"""
