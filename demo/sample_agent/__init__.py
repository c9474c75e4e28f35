"""The agent whose runs `tracegrade sample` copies: an order desk in two releases."""
