"""The folder that `tracegrade run` puts on `PYTHONPATH`: it holds the start-up hook only."""
