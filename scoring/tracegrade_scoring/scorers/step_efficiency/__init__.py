"""Scores how many steps attempts took, and how many of them their task needs."""
