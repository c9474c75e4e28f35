"""Recent activity: windows of time, the work of each agent in them, and failures."""
