"""Proxies between an agent and HTTP services, and tapes of what passes through them."""
