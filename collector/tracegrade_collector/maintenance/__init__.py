"""Maintenance that knows the log: erasing traces, repairing tables, verifying the lake."""
