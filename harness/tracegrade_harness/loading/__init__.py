"""Reading a suite file: its shape, what is wrong with it, and its JSON Schema."""
