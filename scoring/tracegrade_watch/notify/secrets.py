"""Reads the secrets of destinations from the environment or from files.

A secret is never stored, and never in a message: errors name its source.
"""

from collections.abc import Mapping
from pathlib import Path

from tracegrade_watch.errors import WatchRefused


def is_source(text: str) -> bool:
    """Return whether a text names the source of a secret: `env:NAME` or `file:PATH`."""
    scheme, _, name = text.partition(":")
    return scheme in {"env", "file"} and bool(name)


def read_secret(source: str, variables: Mapping[str, str]) -> str:
    """Return the secret of a source, without white space around it.

    Raises:
        WatchRefused: The variable is not set, or the file cannot be read, or it is empty.
    """
    scheme, _, name = source.partition(":")
    if scheme == "env":
        secret, problem = variables.get(name, ""), f"the variable {name} is not set"
    else:
        secret, problem = _read_file(name), f"the file {name} cannot be read or is empty"
    secret = secret.strip()
    if not secret:
        msg = f"the secret {source} is missing: {problem}"
        raise WatchRefused(msg)
    if not secret.isascii() or not secret.isprintable():
        msg = f"the secret {source} has characters that no URL and no token has"
        raise WatchRefused(msg)
    return secret


def _read_file(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
