"""Secrets in texts: patterns that find them, and texts without them; for agents and collectors."""
