"""The write-ahead log on disk, and the ledger of what became of it."""
