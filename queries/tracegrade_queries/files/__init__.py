"""Files that people write: YAML with the line of each value, and what is wrong with it."""
