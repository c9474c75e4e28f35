"""The plans and sub-goals of a run: how far each got, as a picture and as a table."""
