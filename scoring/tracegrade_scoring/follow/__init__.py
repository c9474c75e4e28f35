"""Scores a lake continuously: `tracegrade score --follow`."""
