"""Sends spans: queues, cleans, encodes and exports them, and counts those that are lost."""
