"""Calls of models: cached in the lake, within a budget, no faster than the endpoint allows."""
