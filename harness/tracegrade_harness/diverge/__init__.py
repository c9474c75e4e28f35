"""Compares the answers of live services with the tapes."""
