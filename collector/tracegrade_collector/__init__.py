"""OTLP in, a write-ahead log, and the lake that it lands in."""
