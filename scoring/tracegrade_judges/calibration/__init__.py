"""Measures how far to trust a judge: labels of people, agreement with them, corrected rates."""
