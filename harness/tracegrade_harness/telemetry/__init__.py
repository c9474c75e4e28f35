"""Relays an agent's spans, filters them, and writes the harness's own spans."""
