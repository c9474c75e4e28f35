"""The write-ahead log on disk, and the ledger that accounts for its requests."""
