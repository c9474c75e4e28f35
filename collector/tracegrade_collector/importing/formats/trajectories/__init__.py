"""Formats of trajectories of coding agents and benchmarks, one module each."""
