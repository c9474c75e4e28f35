"""Redis as a part of environments."""
