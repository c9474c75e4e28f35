"""MCP servers of an environment, over standard input and output or HTTP, and their tapes."""
