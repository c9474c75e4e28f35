"""What `tracegrade run` puts on `PYTHONPATH`: the folder of the start-up hook, no more."""
