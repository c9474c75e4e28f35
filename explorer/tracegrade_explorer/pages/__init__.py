"""The pages: each reads one scoring run, and returns the content of its template."""
