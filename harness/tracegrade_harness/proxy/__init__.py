"""Proxies between an agent and HTTP services, and tapes of their traffic."""
