"""Stops and kills an agent at chosen moments: its gate, the gate's protocol, and deadlines."""
