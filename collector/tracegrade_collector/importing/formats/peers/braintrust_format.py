"""The format `braintrust`: events of Braintrust's logs and experiments → spans.

A record is an event, a list of events, or an answer of its interface (`events`, `data`). Spans of
scorers, and all below them, are left out: no agent made their calls. A score of a root named for
success is a verdict.

The form is that of https://www.braintrust.dev/docs/admin/data-management/export.md, as of August
2026.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade import names
from tracegrade_collector.importing.formats.peers.peer_spans import (
    MODEL,
    PeerSpan,
    as_unpacked_object,
    part_of_spans,
    unread_fields,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.message_shapes import unpacked
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.scores import is_success, quoted_name, success_verdict
from tracegrade_collector.importing.span_parts import as_json, trace_id_of
from tracegrade_collector.importing.spellings import as_list, as_object
from tracegrade_collector.importing.tables import read_table
from tracegrade_collector.importing.usage import read_usage
from tracegrade_collector.importing.verdict_rows import VerdictRecord

FORMAT: Final = "braintrust"

_OPERATIONS: Final = {"llm": MODEL, "tool": names.EXECUTE_TOOL}
_SCORER: Final = "score"
_LISTS: Final = ("events", "data", "rows")
_CONVERSATIONS: Final = ("session_id", "conversation_id", "thread_id", "gen_ai.conversation.id")
_CACHED: Final = "prompt_cached_tokens"
_READ: Final = (
    *("id", "span_id", "root_span_id", "span_parents", "span_attributes", "input", "output"),
    *("error", "scores", "metadata", "metrics", "created", "is_root", "_xact_id", "log_id"),
    *("project_id", "org_id", "_pagination_key", "experiment_id"),
)


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return any(map(_is_event, _events(record)[:1]))


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each event; `--map success=NAME` names the score that is a verdict."""
    scorers = _scorers(path)
    for record in read_table(path):
        location, events = f"{path}:{record.line}", _events(record.value)
        if record.fault or not events:
            yield ImportPart(location, fault=record.fault or "no event of Braintrust")
        for event in events:
            if not _is_event(event):
                fault = "no event of Braintrust: it lacks span_id or root_span_id"
                yield ImportPart(location, fault=fault)
            elif str(event["span_id"]) in scorers:
                yield part_of_spans(location, [], Counter({"spans of scorers": 1}))
            else:
                yield _part(location, event, reading.paths.get("success"))


def _events(record: Any) -> list[Any]:
    if not isinstance(record, dict):
        return []
    lists = (record[key] for key in _LISTS if isinstance(record.get(key), list))
    return next(lists, [record])


def _is_event(value: Any) -> bool:
    found = as_object(value)
    return bool(found.get("span_id") and found.get("root_span_id"))


def _scorers(path: Path) -> set[str]:
    """Return the spans of scorers and those below them, in any order in the file."""
    below: dict[str, list[str]] = {}
    open_ids: list[str] = []
    for record in read_table(path):
        for event in filter(_is_event, _events(record.value)):
            for parent in _parents(event):
                below.setdefault(parent, []).append(str(event["span_id"]))
            if _kind(event) == _SCORER:
                open_ids.append(str(event["span_id"]))
    found: set[str] = set()
    while open_ids:
        span_id = open_ids.pop()
        if span_id not in found:
            found.add(span_id)
            open_ids += below.get(span_id, [])
    return found


def _parents(event: JsonObject) -> list[str]:
    return [str(each) for each in as_list(unpacked(event.get("span_parents"))) if each]


def _kind(event: JsonObject) -> str:
    return str(as_unpacked_object(event.get("span_attributes")).get("type"))


def _part(location: str, event: JsonObject, chosen: str | None) -> ImportPart:
    ignored = unread_fields(event, _READ)
    verdicts = list(_verdicts(event, chosen, ignored))
    part = part_of_spans(location, [_peer(event)], ignored)
    understood = Counter(part.understood) + Counter({"scores": len(verdicts)})
    return part._replace(verdicts=verdicts, understood=+understood)


def _peer(event: JsonObject) -> PeerSpan:
    metadata = as_unpacked_object(event.get("metadata"))
    metrics = as_unpacked_object(event.get("metrics"))
    parents = _parents(event)
    conversation = next((metadata[key] for key in _CONVERSATIONS if metadata.get(key)), None)
    name = as_unpacked_object(event.get("span_attributes")).get("name")
    return PeerSpan(
        FORMAT,
        event["root_span_id"],
        event["span_id"],
        parents[-1] if parents else None,
        as_json(name or ""),
        _OPERATIONS.get(_kind(event)),
        metrics.get("start") or event.get("created"),
        metrics.get("end"),
        event.get("input"),
        event.get("output"),
        event.get("error") or None,
        model=metadata.get("model") or metadata.get("gen_ai.request.model"),
        usage=_usage(metrics),
        tools=metadata.get("tools") if isinstance(metadata.get("tools"), list) else None,
        cost_usd=metrics.get("estimated_cost"),
        conversation=conversation,
    )


def _usage(metrics: JsonObject) -> dict[str, int]:
    """Return the tokens; those from a cache are part of the prompt, and counts may be floats."""
    counts = {
        key: int(value)
        for key, value in metrics.items()
        if isinstance(value, int | float) and 0 <= value < 2**62
    }
    if _CACHED in counts:
        counts["cached_tokens"] = counts[_CACHED]
    return read_usage(counts)


def _verdicts(
    event: JsonObject, chosen: str | None, ignored: Counter[str]
) -> Iterator[VerdictRecord]:
    for name, value in as_unpacked_object(event.get("scores")).items():
        if value is None:
            continue
        if _parents(event) or not is_success(name, chosen):
            ignored[f"scores named {quoted_name(name)}"] += 1
            continue
        run = trace_id_of(FORMAT, event["root_span_id"]).hex()
        if verdict := success_verdict(run, f"{FORMAT} {name}", value):
            yield verdict
        else:
            ignored["scores that are not a number from 0 to 1"] += 1
