"""Browsers: a Chromium with a new profile."""
