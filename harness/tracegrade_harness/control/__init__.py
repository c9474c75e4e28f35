"""Where an agent is stopped and killed: its gate, the protocol spoken there, and deadlines."""
