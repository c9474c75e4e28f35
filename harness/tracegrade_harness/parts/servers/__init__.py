"""Servers that the harness starts for its parts, and how a sandbox reaches them."""
