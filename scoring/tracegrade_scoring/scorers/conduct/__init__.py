"""Conduct: repeated calls, recovery from failures, how runs end."""
