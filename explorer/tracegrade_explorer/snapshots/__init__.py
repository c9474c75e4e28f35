"""The lake as of one scoring run, with an index of its runs; the next takes its place."""
