"""What of a lake is not scored yet, and why: the part of scoring in `tracegrade lake status`."""
