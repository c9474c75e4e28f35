"""Settings from the environment and from `init`, read once.

`TRACEGRADE_CONTENT` selects the text that leaves the process: `full`, `redacted` (the default) or
`none`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tracegrade.environment import shortened
from tracegrade.guard import say
from tracegrade.values.native_inspection import is_kind, named

Redact = Callable[[str, str], str]

MAX_CONTENT_CHARS = (
    65_536  # 512 spans (one batch) x 2 texts stay under the exporter's 64 MiB request
)

MAX_DIGITS = 9

TAPE_VARIABLE = "TRACEGRADE_TOOLS"
"""Names the socket of the harness, where it records calls of tools or answers them."""


class Content(StrEnum):
    """Modes for the text that leaves the process."""

    FULL = "full"
    """All text, unchanged."""
    REDACTED = "redacted"
    """Everything but secrets."""
    NONE = "none"
    """No arguments, results, messages, thoughts, plans or error texts."""


class Objects(StrEnum):
    """Text for objects whose class is neither known nor registered by the program."""

    NAME = "name"
    """The name of its class: none of its code is run."""
    STR = "str"
    """The result of its `str()`, which may take locks, query a database or load lazy values."""


@dataclass(frozen=True)
class Settings:
    """Settings of this process for writing spans."""

    content: Content = Content.REDACTED
    """What text leaves the process."""
    max_content_chars: int = MAX_CONTENT_CHARS
    """Longer texts are cut, and `tracegrade.truncated` names them."""
    objects: Objects = Objects.NAME
    """Text for objects of unknown classes, and whether `str()` of exceptions is called."""
    redact: Redact | None = None
    """The user's own rule, (attribute key, text) -> text, after tracegrade's, in the exporter's
    thread.
    """

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str] = os.environ,
        *,
        redact: Redact | None = None,
        objects: str | None = None,
    ) -> "Settings":
        """Return the settings that `TRACEGRADE_*` asks for; an unknown content mode means `none`.

        The mode exists to keep text in, so a mistyped one must not let it out.
        """
        content = _content(environment.get("TRACEGRADE_CONTENT", "").strip().lower())
        chars = environment.get("TRACEGRADE_CONTENT_MAX_CHARS", "").strip()
        is_number = chars.isascii() and chars.isdecimal() and len(chars) <= MAX_DIGITS
        limit = int(chars) if is_number else MAX_CONTENT_CHARS
        if chars and not is_number:
            text = f"TRACEGRADE_CONTENT_MAX_CHARS={shortened(chars)} is not used"
            say("settings: TRACEGRADE_CONTENT_MAX_CHARS", f"{text}: it must be a whole number")
        if objects is None:
            chosen = environment.get("TRACEGRADE_OBJECTS", "").strip().lower()
            written = _objects("TRACEGRADE_OBJECTS", chosen or Objects.NAME)
        else:
            written = _objects("objects=", objects)
        return cls(content=content, max_content_chars=limit, objects=written, redact=redact)


def _objects(option: str, chosen: object) -> Objects:
    given = str.__str__(chosen) if is_kind(chosen, str) else named(type(chosen))
    found = next((kind for kind in Objects if kind.value == given), None)
    if found is not None:
        return found
    text = f"{option} must be one of {', '.join(Objects)}, got {shortened(given)}"
    say("settings", f"{text}; objects are named by class")
    return Objects.NAME


def _content(chosen: str) -> Content:
    if not chosen:
        return Content.REDACTED
    if chosen in set(Content):
        return Content(chosen)
    text = f"TRACEGRADE_CONTENT must be one of {', '.join(Content)}, got {shortened(chosen)}"
    say("settings", f"{text}; no text is written")
    return Content.NONE
