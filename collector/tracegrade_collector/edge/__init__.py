"""What any server of ours has at its edge: address, TLS, tokens, counts of what comes in."""
