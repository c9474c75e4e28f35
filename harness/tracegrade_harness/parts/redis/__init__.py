"""Redis databases."""
