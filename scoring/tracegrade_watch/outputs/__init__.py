"""What `tracegrade watch` prints and exports: texts, test results, annotations, metrics."""
