"""Exports of tools that trace agents: Weave, Opik, Braintrust and Datadog."""
