"""Renames attributes that an agent's telemetry must not set. Pure: messages in, messages out.

An agent that knows a collector's address could grade or weigh itself. It could mark runs as
killed, which takes them out of the attempts, or send spans in the name of another trial, release
or environment. Such attributes are renamed to `tracegrade.claimed.…`, where people find them and
scores do not, and are counted. Everything else stays unchanged.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade import names
from tracegrade_collector.encoding.otlp import TRACE_ID_BYTES, ExportRequest, groups

BEYOND: Final = "item of too many traces"
CLAIMED: Final = "tracegrade.claimed."
"""Prefix of attributes that an agent must not set."""
EVALUATION: Final = "gen_ai.evaluation.result"
EVENT_NAME: Final = "event.name"
TRACE_ID: Final = "trace_id"
TRACE_STATE: Final = "trace_state"
TRIAL_KEYS: Final = (names.TASK_ID, names.TASK_CATEGORY, names.TRIAL, names.RUN_MODE)
"""Attributes that say which trial a span belongs to and how it counts, on every kind of item."""
RESOURCE_KEYS: Final = (
    *TRIAL_KEYS,
    names.SERVICE_NAME,
    names.SERVICE_VERSION,
    names.ENVIRONMENT,
    "deployment.environment",  # its name until version 1.27 of the conventions
)
"""Attributes of resources that say which trial a span belongs to and how it counts."""
OWN_SCOPES: Final = frozenset({"tracegrade.harness", "tracegrade.import", "tracegrade.scoring"})
"""Scopes whose spans and logs are read as those of the harness, importers or scorers."""
_SAMPLING: Final = re.compile(r"\bot=", re.ASCII)
"""OpenTelemetry's entry in a trace state that gives the weight of a run."""

Attributes = RepeatedCompositeFieldContainer[KeyValue]
Items = RepeatedCompositeFieldContainer[Any]


class Sayings(NamedTuple):
    """The attributes that the telemetry of a trial must have, from every sender."""

    resource: Mapping[str, str]
    """The resource attributes of the trial, from `RESOURCE_KEYS`, each with its only allowed
    value."""
    is_verified: bool = False
    """Whether verifiers decide the outcome, so that the agent must not report one."""

    @property
    def of_items(self) -> dict[str, str | None]:
        """Name → the allowed value of attributes outside of resources; None if there is none."""
        kill_points = (names.KILL_POINT, names.KILL_POINT_BEFORE)
        denied = (*kill_points, *([names.OUTCOME] if self.is_verified else []))
        identity = {key: self.resource.get(key) for key in TRIAL_KEYS}
        return {**identity, **dict.fromkeys(denied)}

    @property
    def of_resources(self) -> dict[str, str | None]:
        """Name → the allowed value of attributes of resources."""
        return {**self.of_items, **{key: self.resource.get(key) for key in RESOURCE_KEYS}}

    def without_claims(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return a span's attributes; those that only the harness may set are renamed."""
        allowed = self.of_items
        return {
            key if key not in allowed or str(value) == allowed[key] else CLAIMED + key: value
            for key, value in attributes.items()
        }


class Filtered(NamedTuple):
    """The result of filtering a request."""

    claimed: Counter[str]
    """Number of renamed items, by their former name."""
    is_changed: bool
    """Whether the request was changed."""


def filter_request(request: ExportRequest, sayings: Sayings) -> Filtered:
    """Rename attributes that the agent must not set, and let all resources name the trial.

    Args:
        request: Traces or logs; it is changed.
        sayings: The attributes that it may have.
    """
    claimed: Counter[str] = Counter()
    resources = {}
    of_items = sayings.of_items
    for group in groups(request):
        resources[group.path[0]] = group.resource.resource.attributes
        _claim_scope(group.scope.scope, claimed)
        _claim(group.scope.scope.attributes, of_items, claimed)
        for item in group.items:
            _claim_item(item, claimed)
            for attributes in _attributes(item):
                _claim(attributes, of_items, claimed)
    added = 0
    for attributes in resources.values():
        _claim(attributes, sayings.of_resources, claimed)
        missing = sayings.resource.keys() - {attribute.key for attribute in attributes}
        for key in sorted(missing & set(RESOURCE_KEYS)):
            attributes.add(key=key).value.string_value = sayings.resource[key]
            added += 1
    return Filtered(+claimed, bool(added or +claimed))


def traces_of(request: ExportRequest) -> dict[str, None]:
    """Return the valid trace ids of a request, in their order."""
    found = (item.trace_id for group in groups(request) for item in group.items)
    return {trace.hex(): None for trace in found if _is_trace(trace)}


def move_traces(request: ExportRequest, own: Mapping[str, str]) -> Filtered:
    """Move the items of each trace to another trace; drop items that have none.

    Args:
        request: Traces or logs; it is changed.
        own: Trace → the trace that replaces it. Links to traces that are not in it stay.
    """
    claimed: Counter[str] = Counter()
    for group in groups(request):
        beyond = [i for i, item in enumerate(group.items) if _is_beyond(item, own)]
        claimed[BEYOND] += len(beyond)
        for i in reversed(beyond):
            del group.items[i]
        for item in group.items:
            _move(item, own, claimed)
    return Filtered(+claimed, bool(+claimed))


def _move(item: Span | LogRecord, own: Mapping[str, str], claimed: Counter[str]) -> None:
    moved: list[Any] = [item, *(item.links if isinstance(item, Span) else ())]
    for each in moved:
        trace = each.trace_id.hex()
        if own.get(trace, trace) != trace:
            each.attributes.add(key=CLAIMED + TRACE_ID).value.string_value = trace
            each.trace_id = bytes.fromhex(own[trace])
            claimed[TRACE_ID] += 1


def _is_beyond(item: Span | LogRecord, own: Mapping[str, str]) -> bool:
    return _is_trace(item.trace_id) and item.trace_id.hex() not in own


def _is_trace(trace: bytes) -> bool:
    return len(trace) == TRACE_ID_BYTES and any(trace)


def _attributes(item: Span | LogRecord) -> Iterator[Attributes]:
    yield item.attributes
    if isinstance(item, Span):
        yield from (event.attributes for event in item.events)
        yield from (link.attributes for link in item.links)


def _claim(
    attributes: Attributes, allowed: Mapping[str, str | None], claimed: Counter[str]
) -> None:
    """Rename attributes whose values differ from the allowed ones."""
    for attribute in attributes:
        key = attribute.key
        if key in allowed and (allowed[key] is None or _text(attribute.value) != allowed[key]):
            attribute.key = CLAIMED + key
            claimed[key] += 1


def _claim_scope(scope: InstrumentationScope, claimed: Counter[str]) -> None:
    if scope.name in OWN_SCOPES:
        claimed[f"scope {scope.name}"] += 1
        scope.name = CLAIMED + scope.name


def _claim_item(item: Span | LogRecord, claimed: Counter[str]) -> None:
    """Rename evaluation results, and a span's statement about its sampling."""
    if isinstance(item, Span):
        for event in item.events:
            if event.name == EVALUATION:
                event.name = CLAIMED + EVALUATION
                claimed[EVALUATION] += 1
        if _SAMPLING.search(item.trace_state):
            _claim_trace_state(item)
            claimed[TRACE_STATE] += 1
    elif _is_evaluation(item):
        _claim_evaluation(item)
        claimed[EVALUATION] += 1


def _claim_trace_state(span: Span) -> None:
    entries = span.trace_state.split(",")
    span.attributes.add(key=CLAIMED + TRACE_STATE).value.string_value = span.trace_state
    span.trace_state = ",".join(each for each in entries if not _SAMPLING.search(each))


def _is_evaluation(record: LogRecord) -> bool:
    named = [each.value for each in record.attributes if each.key == EVENT_NAME]
    return EVALUATION in (record.event_name, *map(_text, [record.body, *named]))


def _claim_evaluation(record: LogRecord) -> None:
    if record.event_name == EVALUATION:
        record.event_name = CLAIMED + EVALUATION
    named = [each.value for each in record.attributes if each.key == EVENT_NAME]
    for value in (record.body, *named):
        if _text(value) == EVALUATION:
            value.string_value = CLAIMED + EVALUATION


def _text(value: AnyValue) -> str | None:
    if value.HasField("int_value"):
        return str(value.int_value)
    return value.string_value if value.HasField("string_value") else None
