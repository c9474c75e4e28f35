"""Parts of an environment: what an agent can change, by kind, and what all kinds share."""
