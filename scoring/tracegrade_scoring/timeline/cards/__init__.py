"""Cards of the page of a run: its wrong decisions, and the work of its agents."""
