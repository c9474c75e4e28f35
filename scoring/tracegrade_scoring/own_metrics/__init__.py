"""Metrics of users' own: read, checked, run beside ours, and kept by the lake."""
