"""Contact with the host process: its threads, its children, its end, its own telemetry."""
