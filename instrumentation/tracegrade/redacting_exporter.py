"""Spans ready to leave: without secrets, without texts that `redact=` removes, or without content.

tracegrade's own spans were redacted when they were written. This module redacts those of other
instrumentations, and all spans if the user gave a rule.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import AttributeValue

from tracegrade import names
from tracegrade.guard import guarded, report, say
from tracegrade.redact.texts import PLACEHOLDER, redact_value
from tracegrade.rewritten_span import RewrittenSpan
from tracegrade.settings import Content, Redact, Settings
from tracegrade.state import SCOPE_NAME, state

# Without content, a text stays only where its key's last word says that it names something. A list
# of the keys that hold content would let out what the next framework invents.
_NAMES: Final = """
    address agent_name category code definitions effect escaped finish_reason finish_reasons id
    json_schema kind label method mime_type mode model model_name name names operation operationid
    outcome provider reason redacted role route scheme status system tool_name truncated type
    version
"""  # definitions and schemas of tools go out in every mode, like tracegrade's own
_NAMING: Final = frozenset(_NAMES.split())


@guarded
def clean_span(span: ReadableSpan) -> ReadableSpan | None:
    """Return the span as it may leave; None (and not the original) where cleaning failed."""
    settings = state.settings
    scope = span.instrumentation_scope
    is_ours = scope is not None and scope.name == SCOPE_NAME
    if settings.redact is None and (is_ours or settings.content is Content.FULL):
        return span
    cleaner = _Cleaner(settings)
    cleaned = RewrittenSpan(
        span,
        attributes=cleaner.attributes(span.attributes or {}),
        events=[cleaner.event(event) for event in span.events],
        links=[cleaner.link(link) for link in span.links],
        status=cleaner.status(span.status),
    )
    return cleaned if cleaner.changed else span


class _Cleaner:
    """Applies the content mode, built-in patterns and the user's `redact=` to a span's texts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.changed = False

    def attributes(self, attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Return the attributes that may leave, `tracegrade.redacted` naming the changed ones."""
        remaining: dict[str, AttributeValue] = {}
        redacted = []
        for key, value in attributes.items():
            if self._settings.content is Content.NONE and _is_content(key, value):
                self.changed = True
                continue
            remaining[key] = self._value(key, value)
            if remaining[key] != value:
                redacted.append(key)
        if redacted:
            self.changed = True
            before = attributes.get(names.REDACTED)
            remaining[names.REDACTED] = [*(before if isinstance(before, tuple) else ()), *redacted]
        return remaining

    def event(self, event: Event) -> Event:
        """Return an event that may leave."""
        return Event(event.name, self.attributes(event.attributes or {}), event.timestamp)

    def link(self, link: Link) -> Link:
        """Return a link whose attributes may leave."""
        return Link(link.context, self.attributes(link.attributes)) if link.attributes else link

    def status(self, status: Status) -> Status:
        """Return a status whose description may leave."""
        text = status.description
        if text is None:
            return status
        keep = self._settings.content is not Content.NONE
        clean = self._text("status", text) if keep else None
        self.changed |= clean != text
        return Status(status.status_code, clean)

    def _value(self, key: str, value: AttributeValue) -> AttributeValue:
        """Return a value with all texts in it cleaned; lists and mappings may be nested."""
        if isinstance(value, str):
            return self._text(key, value)
        if isinstance(value, Mapping):
            return {name: self._value(name, item) for name, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            return tuple(self._value(key, item) for item in value)
        return value

    def _text(self, key: str, text: str) -> str:
        clean = text if type(text) is str else str.__str__(text)
        if self._settings.content is not Content.FULL:
            clean = redact_value(key, clean)
        hook = self._settings.redact
        return clean if hook is None else _by_hook(hook, key, clean)


def _is_content(key: str, value: AttributeValue) -> bool:
    """Return whether a value may be something that was said; numbers and names are not."""
    values = value if isinstance(value, (list, tuple)) else (value,)
    is_number = all(isinstance(item, (bool, int, float)) for item in values)
    return not is_number and key.rpartition(".")[2].lower() not in _NAMING


def _by_hook(hook: Redact, key: str, text: str) -> str:
    """Return the result of the user's rule for a text; nothing if it fails."""
    try:
        clean = hook(key, text)
    except Exception as error:  # noqa: BLE001 - a user's rule may raise anything
        report("redact=", error)
        return PLACEHOLDER
    if isinstance(clean, str):
        return clean
    say("redact=", f"redact= must return a text, got {type(clean).__name__} for {key}")
    return PLACEHOLDER
