"""HTTP services with a state."""
