"""The common input of all scorers: attempts with their calls, plans, tasks and success."""
