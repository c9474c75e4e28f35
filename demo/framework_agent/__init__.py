"""The support agent of the demo: OpenAI's Agents SDK, with no line of tracegrade in it."""
