"""Walks, copies, locks and removes folders, even with hostile contents that an agent left."""
