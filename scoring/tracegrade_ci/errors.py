"""Errors of `tracegrade ci`; each message is one line: fact, value, way out."""

from tracegrade.errors import BadInput, TracegradeError


class CheckRefused(BadInput):
    """Nothing was compared: an option, the baseline or the lake does not allow it."""


class GitHubFailed(TracegradeError):
    """GitHub could not be reached, or refused a request."""
