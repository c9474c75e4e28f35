"""Watches the scores of a lake for changes, by rules, and keeps an alert for each."""
