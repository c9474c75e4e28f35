"""Finds the name of a labeler: given by the command on loopback, else by the token's entry.

The name is never typed into a form, so that no user can label as another.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from tracegrade_collector.edge.tokens import PERSON, read_access
from tracegrade_collector.errors import Unauthenticated
from tracegrade_explorer.errors import NameRefused

NameOf: TypeAlias = Callable[[str], str]
"""Name with which the bearer of a token may label; '' if none."""

HUMAN: Final = "human:"
"""A person's source begins so."""


def everybody_is(name: str) -> NameOf:
    """Return a function that gives every caller this name, for loopback with a single token.

    Raises:
        NameRefused: Nobody can be called so.
    """
    if not re.fullmatch(PERSON, name):
        msg = (
            "--label-as takes 1 to 60 letters, digits, spaces and . _ @ -, first a letter or "
            f"digit, got {name!r:.80}"
        )
        raise NameRefused(msg)
    return lambda _: name


def named_in(file: Path) -> NameOf:
    """Return what looks for the name of a token in a file of hashed tokens.

    Raises:
        BadCredentials: The file cannot be used.
    """
    access = read_access(file)

    def name_of(token: str) -> str:
        try:
            return access.labeler_of_token([f"Bearer {token}"], datetime.now(UTC)) or ""
        except Unauthenticated:
            return ""

    return name_of
