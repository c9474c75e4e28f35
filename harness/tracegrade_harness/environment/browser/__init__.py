"""A browser as a part of environments."""
