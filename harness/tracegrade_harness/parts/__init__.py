"""The parts of an environment that an agent can change, by kind, and their common code."""
