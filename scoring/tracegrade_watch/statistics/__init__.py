"""The tests that decide whether a metric changed; pure functions of sums."""
