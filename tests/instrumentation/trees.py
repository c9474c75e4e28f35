"""Spans as a tree that a test can show whole: no ids, times as order, JSON read."""

import json
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

UNTOLD = {"tracegrade.step.index", "tracegrade.step.monotonic_ns", "exception.stacktrace"}


def tree(spans: list[ReadableSpan]) -> list[dict[str, Any]]:
    """Return the roots, each `{name, ...attributes, children}`; siblings in order of start."""
    known = {_id(span): _node(span, spans) for span in spans}
    roots: list[dict[str, Any]] = []
    for span in spans:
        assert isinstance((span.attributes or {})["tracegrade.step.monotonic_ns"], int)
        parent = known.get(span.parent.span_id) if span.parent else None
        siblings = roots if parent is None else parent.setdefault("children", [])
        siblings.append(known[_id(span)])
    return roots


def _id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.span_id


def _node(span: ReadableSpan, spans: list[ReadableSpan]) -> dict[str, Any]:
    names = {_id(other): other.name for other in spans}
    node: dict[str, Any] = {"name": span.name, **_told(span.attributes)}
    if span.status.status_code.value == 2:
        node["error"] = span.status.description
    if span.events:
        node["events"] = [{"name": event.name, **_told(event.attributes)} for event in span.events]
    if span.links:
        node["links"] = [names[link.context.span_id] for link in span.links]
    return node


def _told(attributes: Any) -> dict[str, Any]:
    told = {key: value for key, value in (attributes or {}).items() if key not in UNTOLD}
    return {key: _read(value) for key, value in told.items()}


def _read(value: object) -> object:
    is_json = isinstance(value, str) and value[:1] in {"[", "{"}
    return json.loads(str(value)) if is_json else value
