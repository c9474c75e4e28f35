"""Judges criteria, a task's own and its sub-goals', in one way: when did each condition hold."""
