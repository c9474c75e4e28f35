"""Filters that select a page's runs: their form in addresses, and their conditions in SQL."""
