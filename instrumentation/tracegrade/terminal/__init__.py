"""Terminal output of commands: progress, and foreign texts with control characters spelled out."""
