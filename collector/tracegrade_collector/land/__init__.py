"""The lander process: from the log to rows in the lake, exactly once."""
