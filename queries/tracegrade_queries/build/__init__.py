"""From new spans to steps and trajectories."""
