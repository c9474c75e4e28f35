"""Maintenance of tables: compaction, expiry, row removal, inspection and log rebuilding."""
