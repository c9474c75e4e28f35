"""Rollback: what a killed agent left behind, and which records tell how to undo it."""
