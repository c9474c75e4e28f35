"""The pages of kills on purpose, and what they left."""
