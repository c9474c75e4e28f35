"""Scores how good the plan was that an agent made before it acted."""
