"""What keeps tables small, young and free of erased rows: compaction, expiry, row removal."""
