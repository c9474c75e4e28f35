"""Texts without half characters (lone surrogates), which cannot be sent.

They are from file names that are not UTF-8, and from texts cut out of UTF-16. A single one costs
the whole batch in the SDK's exporters. U+FFFD replaces each; the texts are counted.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, Status

from tracegrade.guard import note
from tracegrade.rewritten_span import RewrittenSpan
from tracegrade.values.native_inspection import is_kind, named

_HALF: Final = re.compile("[\ud800-\udfff]")


def whole_text(text: Any) -> str:
    """Return a text without half characters; for any other value, the name of its class."""
    if type(text) is not str:
        text = str.__str__(text) if is_kind(text, str) else named(type(text))
    if text.isascii() or not _HALF.search(text):
        return text  # type: ignore[no-any-return]
    note("texts with half characters")
    return _HALF.sub("\ufffd", text)


def _is_whole(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() or not _HALF.search(value)
    if isinstance(value, Mapping):
        return all(_is_whole(key) and _is_whole(item) for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return all(map(_is_whole, value))
    return True


def _whole(value: Any) -> Any:
    """Return a value with only whole texts in it."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, Mapping):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return tuple(map(_whole, value))
    return value


def _whole_span(span: ReadableSpan) -> ReadableSpan:
    status, scope, resource = span.status, span.instrumentation_scope, span.resource
    return RewrittenSpan(
        span,
        name=_whole(span.name),
        resource=Resource(_whole(resource.attributes), _whole(resource.schema_url)),
        attributes=_whole(span.attributes or {}),
        events=[_event(event) for event in span.events],
        links=[Link(link.context, _whole(link.attributes or {})) for link in span.links],
        status=Status(status.status_code, _whole(status.description)),
        instrumentation_scope=scope and _scope(scope),
    )


def _event(event: Event) -> Event:
    return Event(_whole(event.name), _whole(event.attributes or {}), event.timestamp)


def _scope(scope: InstrumentationScope) -> InstrumentationScope:
    identity = (scope.name, scope.version, scope.schema_url, scope.attributes)
    return InstrumentationScope(*map(_whole, identity))


def whole_span(span: ReadableSpan) -> ReadableSpan:
    """Return a span with whole texts everywhere; the same one if unchanged."""
    scope, resource = span.instrumentation_scope, span.resource
    texts: list[object] = [span.name, span.status.description, span.attributes]
    texts += [resource.attributes, resource.schema_url]
    texts += [(event.name, event.attributes) for event in span.events]
    texts += [link.attributes for link in span.links]
    texts += [scope.name, scope.version, scope.schema_url, scope.attributes] if scope else []
    return span if all(map(_is_whole, texts)) else _whole_span(span)
