"""Files that people write: YAML with the line of each value, and its problems."""
