"""What every scorer reads: attempts with their calls, plans, tasks and success."""
