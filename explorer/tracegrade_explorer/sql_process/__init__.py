"""SQL in a process of its own that can be killed: readers' queries, and the search of texts."""
