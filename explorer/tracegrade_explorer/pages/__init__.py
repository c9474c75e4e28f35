"""The pages: each reads one scoring run, and says what its template shows."""
