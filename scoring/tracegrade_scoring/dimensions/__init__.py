"""Dimensions of runs in scoring: the mapping file's option, its summary, and sides to compare."""
