"""Release, agent, task and slices of runs, read from any attribute that a mapping file names."""
