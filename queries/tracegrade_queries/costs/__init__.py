"""The costs of model calls."""
