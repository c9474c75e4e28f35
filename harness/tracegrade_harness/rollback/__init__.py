"""Rollback-ability: what a killed agent left behind, and who says how to undo it."""
