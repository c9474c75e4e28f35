"""What happened lately: windows of time, what each agent did in them, and what went wrong."""
