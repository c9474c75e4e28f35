"""Relays an agent's spans, filters them, and writes spans on the harness's own account."""
