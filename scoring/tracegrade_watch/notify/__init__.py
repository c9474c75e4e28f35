"""Sends alerts to Slack, webhooks, Alertmanager and GitHub, and notes what each received."""
