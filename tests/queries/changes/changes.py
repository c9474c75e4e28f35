"""What happens to traces on their way: changes of a captured trace, and what each leaves alone.

A change takes the spans of one captured trace, each with its resource and scope, and returns those
that arrive. It returns None where the capture holds nothing that it could change.
"""

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

Span = dict[str, Any]
"""An OTLP/JSON span; below `of`, its resource and scope."""
Spans = list[Span]

SECOND_NS: Final = 1_000_000_000
OUTSIDE: Final = "aaaaaaaaaaaaaaaa"
"""The id of a span that the lake does not get, or gets from another service."""


class ReportedChanges(NamedTuple):
    """What a build makes of a trace, as far as changes are compared by it."""

    story: tuple[str, ...]
    """Its steps, a line each."""
    runs: int
    said: Mapping[str, Any]
    """Columns of the runs: a list each, sorted."""
    tools: frozenset[str]
    """Ids of spans that executed a tool."""
    requests: frozenset[str]
    """Ids of spans of model calls that led to a step."""


class Change(NamedTuple):
    """One thing that can happen to a trace."""

    what: str
    """Said in the documents."""
    made: Callable[[Spans, ReportedChanges], Spans | None]
    expected: Callable[[ReportedChanges], tuple[Any, ...]]
    """What has to hold of the changed trace, of that of the trace as it was captured."""
    found: Callable[[ReportedChanges], tuple[Any, ...]]
    """The same of the changed trace."""


def spans_of(body: bytes) -> Spans:
    """Return the spans of an OTLP/JSON request."""
    return [
        {**span, "of": (resource.get("resource", {}), scope.get("scope", {}))}
        for resource in json.loads(body)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def body_of(spans: Spans) -> bytes:
    """Return the request with these spans, in this order."""
    sent = [
        {
            "resource": span["of"][0],
            "scopeSpans": [
                {
                    "scope": span["of"][1],
                    "spans": [{key: value for key, value in span.items() if key != "of"}],
                }
            ],
        }
        for span in spans
    ]
    return json.dumps({"resourceSpans": sent}).encode()


def _roots(spans: Spans) -> set[str]:
    ids = {span["spanId"] for span in spans}
    return {span["spanId"] for span in spans if span.get("parentSpanId") not in ids}


def _numbered(span: Span, suffix: int, renamed: frozenset[str]) -> Span:
    """Return the span under another id, below the copy of its parent where that is copied."""
    parent = span.get("parentSpanId")
    return span | {
        "spanId": _other_id(span["spanId"], suffix),
        "parentSpanId": _other_id(parent, suffix) if parent in renamed else parent,
    }


def _other_id(span_id: str, suffix: int) -> str:
    return f"{int(span_id, 16) ^ (0x1111111111111111 * suffix):016x}"


def _later(span: Span, by_ns: int) -> Span:
    moved = copy.deepcopy(span)
    for each in (moved, *moved.get("events", [])):
        for key in ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano"):
            if int(each.get(key, 0)):
                each[key] = str(int(each[key]) + by_ns)
    return moved


def _length(spans: Spans) -> int:
    ends = [int(span["endTimeUnixNano"]) for span in spans]
    return max(ends) - min(int(span["startTimeUnixNano"]) for span in spans)


def below_a_gateway(spans: Spans, _: ReportedChanges) -> Spans:
    """A gateway or a browser called the agent, and its span goes elsewhere."""
    roots = _roots(spans)
    above = {"parentSpanId": OUTSIDE, "flags": 0x301}
    return [span | above if span["spanId"] in roots else span for span in spans]


def below_a_web_request(spans: Spans, _: ReportedChanges) -> Spans:
    """The agent runs in a web server, whose span comes as well."""
    roots = _roots(spans)
    first = min(spans, key=lambda span: int(span["startTimeUnixNano"]))
    told = {"http.request.method": "POST", "url.path": "/ask", "http.route": "/ask"}
    above = {
        "traceId": first["traceId"],
        "spanId": OUTSIDE,
        "name": "POST /ask",
        "kind": 2,
        "startTimeUnixNano": str(int(first["startTimeUnixNano"]) - 1000),
        "endTimeUnixNano": str(int(first["startTimeUnixNano"]) + _length(spans) + 1000),
        "attributes": [{"key": key, "value": {"stringValue": told[key]}} for key in told],
        "of": (first["of"][0], {"name": "opentelemetry.instrumentation.fastapi"}),
    }
    under = {"parentSpanId": OUTSIDE}
    return [above, *(span | under if span["spanId"] in roots else span for span in spans)]


def sent_again(spans: Spans, _: ReportedChanges) -> Spans:
    """An exporter that got no answer sends everything once more."""
    return [*spans, *copy.deepcopy(spans)]


def sent_backwards(spans: Spans, _: ReportedChanges) -> Spans:
    """Spans arrive in any order."""
    return spans[::-1]


def started_before(spans: Spans, _: ReportedChanges) -> Spans:
    """Some processors send each span when it starts, before they send it whole."""
    return [*map(_start_version, spans), *spans]


def started_after(spans: Spans, _: ReportedChanges) -> Spans:
    """The version of the start may arrive last."""
    return [*spans, *map(_start_version, spans)]


def _start_version(span: Span) -> Span:
    started = {key: span[key] for key in span if key not in {"events", "status"}}
    return started | {"endTimeUnixNano": "0", "attributes": []}


def copied(spans: Spans, _: ReportedChanges) -> Spans:
    """A second processor records the inside of the run again, under ids of its own."""
    inside = frozenset(span["spanId"] for span in spans) - _roots(spans)
    copies = [_numbered(span, 1, inside) for span in spans if span["spanId"] in inside]
    return [*spans, *copies] if copies else [*spans]


def tools_early(spans: Spans, before: ReportedChanges) -> Spans | None:
    """The clock of the tools' machine is three seconds behind that of the agent's."""
    return _shifted(spans, before, -3 * SECOND_NS)


def tools_late(spans: Spans, before: ReportedChanges) -> Spans | None:
    """It is three seconds ahead."""
    return _shifted(spans, before, 3 * SECOND_NS)


def _shifted(spans: Spans, before: ReportedChanges, by_ns: int) -> Spans | None:
    below = _with_those_below(spans, before.tools)
    if not below or below >= {span["spanId"] for span in spans}:
        return None
    return [_later(span, by_ns) if span["spanId"] in below else span for span in spans]


def _with_those_below(spans: Spans, ids: frozenset[str]) -> set[str]:
    found = set(ids)
    while True:
        more = {span["spanId"] for span in spans if span.get("parentSpanId") in found} - found
        if not more:
            return found
        found |= more


_CITY: Final = re.compile(r"""\{ ?(\\*["'])city\1: ?\1Paris\1 ?\}""")


def no_arguments(spans: Spans, _: ReportedChanges) -> Spans | None:
    """The model gives a tool an empty object."""
    return _with_arguments(spans, "{}")


def _with_arguments(spans: Spans, arguments: str) -> Spans | None:
    text = json.dumps(spans)
    changed = _CITY.sub(arguments, text)
    return None if changed == text else json.loads(changed)


def tools_without_end(spans: Spans, before: ReportedChanges) -> Spans | None:
    """A tool's span is sent at its start, and its end never."""
    if not before.tools:
        return None
    open_ended = {"endTimeUnixNano": "0"}
    return [span | open_ended if span["spanId"] in before.tools else span for span in spans]


def killed(spans: Spans, _: ReportedChanges) -> Spans | None:
    """The process died before the outermost span ended, so that it was never sent."""
    roots = _roots(spans)
    rest = [span for span in spans if span["spanId"] not in roots]
    return rest or None


_IDS: Final = re.compile(
    r"\b((?:call|chatcmpl|resp|msg|toolu|fc|rs|run|lc_run|tooluse|adk|gen|aitxt)[-_]+)(?=[\w-]*\d)"
)


def done_twice(spans: Spans, before: ReportedChanges) -> Spans | None:
    """The same question is asked once more below the same caller, with other ids."""
    every = frozenset(span["spanId"] for span in spans)
    text = json.dumps([_later(_numbered(s, 1, every), _length(spans) + SECOND_NS) for s in spans])
    return [*spans, *json.loads(_IDS.sub(r"\g<1>again", text))]


def coarse_clock(spans: Spans, _: ReportedChanges) -> Spans:
    """The clock of the agent's machine counts milliseconds."""
    return [_in_milliseconds(span) for span in spans]


def _in_milliseconds(span: Span) -> Span:
    counted = copy.deepcopy(span)
    for each in (counted, *counted.get("events", [])):
        for key in ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano"):
            if key in each:
                each[key] = str(int(each[key]) // 1_000_000 * 1_000_000)
    return counted


def attributes_backwards(spans: Spans, _: ReportedChanges) -> Spans:
    """Attributes come in another order."""
    return [span | {"attributes": span.get("attributes", [])[::-1]} for span in spans]


def numbers_as_texts(spans: Spans, _: ReportedChanges) -> Spans:
    """A pipeline on the way keeps attributes as texts."""
    return [span | {"attributes": [*map(_as_text, span.get("attributes", []))]} for span in spans]


def _as_text(attribute: Span) -> Span:
    (kind, value), *_ = attribute["value"].items() or [("", "")]
    if kind in {"intValue", "doubleValue", "boolValue"}:
        text = str(value).lower() if kind == "boolValue" else str(value)
        return attribute | {"value": {"stringValue": text}}
    return attribute


def without_inner_spans(spans: Spans, before: ReportedChanges) -> Spans | None:
    """A filter removes a framework's internal spans: all but agents, model calls and tools."""
    roots, kept = _roots(spans), before.tools | before.requests
    inner = {
        span["spanId"]
        for span in spans
        if span["spanId"] not in roots | kept
        and not _OPERATION.search(json.dumps(span["attributes"]))
    }
    return [span for span in spans if span["spanId"] not in inner] if inner else None


_OPERATION: Final = re.compile(
    r"gen_ai\.operation|AGENT|LLM|TOOL|agent|ai\.operationId|generation|chat|llm|tool", re.I
)


def _all(told: ReportedChanges) -> tuple[Any, ...]:
    return (told.story, told.runs, dict(told.said))


def _steps(told: ReportedChanges) -> tuple[Any, ...]:
    return (told.story,)


def _without_arguments(told: ReportedChanges) -> tuple[Any, ...]:
    calls, runs = _calls(told)
    return ([line.replace('{"city":"Paris"}', "{}") for line in calls], runs)


def _twice(told: ReportedChanges) -> tuple[Any, ...]:
    return (sorted(told.story * 2), told.runs * 2)


def _sorted_steps(told: ReportedChanges) -> tuple[Any, ...]:
    return (sorted(told.story), told.runs)


def _calls(told: ReportedChanges) -> tuple[Any, ...]:
    calls = [line for line in told.story if line.startswith("tool_call")]
    return (calls, told.runs)


CHANGES: Final = {
    change.__name__: Change((change.__doc__ or "").strip(), change, expected, found)
    for change, expected, found in (
        (below_a_gateway, _all, _all),
        (below_a_web_request, _all, _all),
        (sent_again, _all, _all),
        (sent_backwards, _all, _all),
        (started_before, _all, _all),
        (started_after, _all, _all),
        (coarse_clock, _all, _all),
        (attributes_backwards, _all, _all),
        (numbers_as_texts, _all, _all),
        (without_inner_spans, _all, _all),
        (copied, _all, _all),
        (done_twice, _twice, _sorted_steps),
        (tools_early, _steps, _steps),
        (tools_late, _steps, _steps),
        (tools_without_end, _all, _all),
        (no_arguments, _without_arguments, _calls),
        (killed, _calls, _calls),
    )
}
