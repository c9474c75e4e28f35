"""Checks of wording: rules with budgets that only fall, messages in one file, retired names."""
