"""Suites: files that say which agents are run on which tasks, in which environments."""
