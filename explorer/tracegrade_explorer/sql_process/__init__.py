"""Readers' SQL, in a process of its own that can be killed: the engine alone cannot be stopped."""
