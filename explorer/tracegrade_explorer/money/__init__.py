"""The page of money and time."""
