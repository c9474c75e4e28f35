"""OTLP as bytes: protobuf and JSON to messages, files and endpoints of it, how much it holds."""
