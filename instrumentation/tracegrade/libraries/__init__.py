"""What `tracegrade run` loads into a program: one instrumentor of each library, no call twice."""
