"""PostgreSQL databases as parts of environments."""
