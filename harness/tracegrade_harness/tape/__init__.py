"""Tapes: recorded answers of services outside of an environment, and their replay."""
