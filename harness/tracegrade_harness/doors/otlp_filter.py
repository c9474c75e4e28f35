"""What of an agent's telemetry is the agent's to say. Pure: messages in, messages out.

An agent that holds the address of a collector could grade itself, mark runs as killed, which takes
them out of the attempts, or send spans in another trial's name. What says so is taken out and
counted; all else stays as it is.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade import names
from tracegrade_collector.encoding.otlp import Request, groups

EVALUATION: Final = "gen_ai.evaluation.result"
EVENT_NAME: Final = "event.name"
TRIAL_KEYS: Final = (names.TASK_ID, names.TRIAL, names.RUN_MODE)
"""What tells whose spans they are, and how they count."""

Items = RepeatedCompositeFieldContainer[Any]
Attributes = RepeatedCompositeFieldContainer[KeyValue]


class Filtered(NamedTuple):
    """What became of a request."""

    dropped: Counter[str]
    """How much was taken out, by reason."""
    is_changed: bool
    """Whether it is another one than it was."""


def filter_request(request: Request, trial: Mapping[str, str]) -> Filtered:
    """Take out of a request what its agent may not say, and name the trial in its resources.

    Evaluation results are removed; so is `tracegrade.injection`, and each task id, trial and run
    mode that is not the trial's. A resource that lacks one of these gets it.

    Args:
        request: Traces or logs; it is changed.
        trial: `TRIAL_KEYS` → the only value that an agent may give.
    """
    dropped: Counter[str] = Counter()
    resources = {}
    for group in groups(request):
        resources[group.path[0]] = group.resource.resource.attributes
        _filter_items(group.items, trial, dropped)
    added = 0
    for attributes in resources.values():
        _filter_attributes(attributes, trial, dropped)
        missing = trial.keys() - {attribute.key for attribute in attributes}
        for key in sorted(missing):
            attributes.add(key=key).value.string_value = trial[key]
        added += len(missing)
    return Filtered(+dropped, bool(added or +dropped))


def _filter_items(items: Items, trial: Mapping[str, str], dropped: Counter[str]) -> None:
    dropped[EVALUATION] += _remove(items, _is_evaluation)
    for item in items:
        _filter_attributes(item.attributes, trial, dropped)
        if isinstance(item, Span):
            dropped[EVALUATION] += _remove(item.events, lambda event: event.name == EVALUATION)


def _filter_attributes(
    attributes: Attributes, trial: Mapping[str, str], dropped: Counter[str]
) -> None:
    dropped[names.INJECTION] += _remove(attributes, lambda each: each.key == names.INJECTION)
    for key, value in trial.items():
        dropped[f"foreign {key}"] += _remove(attributes, _says_other(key, value))


def _says_other(key: str, value: str) -> Callable[[KeyValue], bool]:
    return lambda attribute: attribute.key == key and _text(attribute.value) != value


def _is_evaluation(item: Span | LogRecord) -> bool:
    """Return whether a log record is an evaluation's result; spans are none."""
    if isinstance(item, Span):
        return False
    named = [each.value for each in item.attributes if each.key == EVENT_NAME]
    return EVALUATION in (item.event_name, *map(_text, [item.body, *named]))


def _text(value: AnyValue) -> str | None:
    if value.HasField("int_value"):
        return str(value.int_value)
    return value.string_value if value.HasField("string_value") else None


def _remove(items: Items, is_unwanted: Callable[[Any], bool]) -> int:
    """Remove items in place; return how many."""
    unwanted = [i for i, item in enumerate(items) if is_unwanted(item)]
    for i in reversed(unwanted):
        del items[i]
    return len(unwanted)
