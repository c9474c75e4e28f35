"""Suites: files with agents, tasks and environments to run."""
