"""The kills of a snapshot, and the addresses of their pages."""
