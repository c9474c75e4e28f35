"""Pages of alerts: changes that the rules of `tracegrade watch` found."""
