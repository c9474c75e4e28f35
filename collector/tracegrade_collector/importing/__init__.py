"""Files of other tools → requests and verdicts: how `tracegrade import` reads each format."""
