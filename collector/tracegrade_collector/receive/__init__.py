"""The receiver process: servers, authentication, limits per tenant, and the way to the log."""
