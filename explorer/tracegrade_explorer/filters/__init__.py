"""Which runs a page is about: filters as they stand in addresses, and as conditions in SQL."""
