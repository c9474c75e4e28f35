"""The harness: runs agents in restored environments, kills them on purpose, and proves the state.

It runs and observes; it scores nothing. What it sees becomes spans and verdicts of a lake.
"""
