"""Documents, and what makes those that are made from the code."""
