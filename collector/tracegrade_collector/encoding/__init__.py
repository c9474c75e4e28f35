"""OTLP as bytes: protobuf and JSON to messages, files and endpoints, and limits on content."""
