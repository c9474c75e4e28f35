"""Where we touch the process of a host: its threads, its children, its end, its own telemetry."""
