"""The network edge that all servers share: address, TLS, tokens, counts of requests."""
