"""SQL over the lake: spans become steps and trajectories, steps become metrics."""
