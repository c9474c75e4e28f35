"""What the lake has of runs before anything is built of them: their spans, as steps."""
