"""One run, step by step: what the agent did, what came back, and what scoring found where."""
