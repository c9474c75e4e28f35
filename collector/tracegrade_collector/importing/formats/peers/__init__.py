"""Exports of tools that trace agents: Weave, Opik, Braintrust, Datadog and Honeycomb."""
