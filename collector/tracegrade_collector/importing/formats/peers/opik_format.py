"""The format `opik`: traces with their spans as `opik export` writes them → spans.

A file is one trace with its spans (`{"trace": …, "spans": […]}`), or records of traces or spans,
as its SDK returns them. The trace is the run, and its `thread_id` the conversation. Feedback
scores named for success are verdicts; those of online scoring count as a judge's.

The form is that of https://github.com/comet-ml/opik (`opik export`, `rest_api` of its SDK), as of
August 2026.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade import names
from tracegrade_collector.importing.formats.peers.peer_spans import (
    MODEL,
    PeerSpan,
    part_of_spans,
    unread_fields,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import FileRecord, JsonObject
from tracegrade_collector.importing.scores import JUDGE, is_success, quoted_name, success_verdict
from tracegrade_collector.importing.span_parts import as_json, trace_id_of
from tracegrade_collector.importing.spellings import as_list, as_object
from tracegrade_collector.importing.tables import read_table
from tracegrade_collector.importing.usage import read_usage
from tracegrade_collector.importing.verdict_rows import VerdictRecord

FORMAT: Final = "opik"

_OPERATIONS: Final = {"llm": MODEL, "tool": names.EXECUTE_TOOL}
_TYPES: Final = {*_OPERATIONS, "general", "guardrail"}
_JUDGED: Final = "online_scoring"
_READ: Final = (
    *("id", "project_id", "project_name", "trace_id", "parent_span_id", "name", "type"),
    *("start_time", "end_time", "input", "output", "model", "provider", "usage", "error_info"),
    *("created_at", "last_updated_at", "created_by", "last_updated_by", "duration", "thread_id"),
    *("feedback_scores", "total_estimated_cost", "total_estimated_cost_version"),
    *("span_count", "llm_span_count", "has_tool_spans", "providers", "ttft", "source"),
)


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    found = as_object(record)
    if isinstance(found.get("trace"), dict):
        return isinstance(found.get("spans"), list) and "start_time" in found["trace"]
    return _is_span(found) or _is_trace(found)


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each record; `--map success=NAME` names the scores that are verdicts."""
    for record in read_table(path):
        yield _part(f"{path}:{record.line}", record, reading.paths.get("success"))


def _is_span(found: JsonObject) -> bool:
    return bool(found.get("id") and found.get("trace_id")) and (
        str(found.get("type")) in _TYPES and "start_time" in found
    )


def _is_trace(found: JsonObject) -> bool:
    own = ("span_count", "feedback_scores", "project_id", "thread_id", "last_updated_at")
    is_whole = bool(found.get("id")) and "start_time" in found and "project_id" in found
    return is_whole and "trace_id" not in found and sum(key in found for key in own) > 1


def _part(location: str, record: FileRecord, chosen: str | None) -> ImportPart:
    if record.fault or not fits(record.value):
        return ImportPart(location, fault=record.fault or "neither a trace nor a span of Opik")
    found, ignored = record.value, Counter[str]()
    trace = found.get("trace") or (found if _is_trace(found) else None)
    spans = found.get("spans") if trace is not found and trace else [found]
    name = found.get("project_name") or as_object(trace).get("project_name")
    peers = [] if trace is None else [_of_trace(trace, name, ignored)]
    for span in as_list(spans):
        if isinstance(span, dict) and _is_span(span):
            peers.append(_of_span(span, name, ignored))
        elif span is not trace:
            ignored["spans without an id, a trace or a type"] += 1
    verdicts = [] if trace is None else list(_verdicts(trace, chosen, ignored))
    part = part_of_spans(location, peers, ignored)
    understood = Counter(part.understood) + Counter({"scores": len(verdicts)})
    return part._replace(verdicts=verdicts, understood=understood)


def _of_trace(trace: JsonObject, project: Any, ignored: Counter[str]) -> PeerSpan:
    ignored.update(unread_fields(trace, _READ))
    return PeerSpan(
        FORMAT,
        trace.get("id"),
        f"trace {trace.get('id')}",
        name=as_json(trace.get("name") or ""),
        start=trace.get("start_time"),
        end=trace.get("end_time"),
        input=trace.get("input"),
        output=trace.get("output"),
        error=_error(trace),
        conversation=trace.get("thread_id"),
        resource={names.SERVICE_NAME: project},
    )


def _of_span(span: JsonObject, project: Any, ignored: Counter[str]) -> PeerSpan:
    """Return the span; one without a parent is the trace's."""
    ignored.update(unread_fields(span, _READ))
    ignored["scores of one span"] += len(as_list(span.get("feedback_scores")))
    return PeerSpan(
        FORMAT,
        span["trace_id"],
        span["id"],
        span.get("parent_span_id") or f"trace {span['trace_id']}",
        as_json(span.get("name") or ""),
        _OPERATIONS.get(str(span["type"])),
        span.get("start_time"),
        span.get("end_time"),
        span.get("input"),
        span.get("output"),
        error=_error(span),
        model=span.get("model"),
        usage=read_usage(span.get("usage")),
        cost_usd=span.get("total_estimated_cost"),
        resource={names.SERVICE_NAME: project},
    )


def _error(found: JsonObject) -> str | None:
    info = as_object(found.get("error_info"))
    text = info.get("message") or info.get("exception_type")
    return as_json(text or info) if info else None


def _verdicts(
    trace: JsonObject, chosen: str | None, ignored: Counter[str]
) -> Iterator[VerdictRecord]:
    for score in map(as_object, as_list(trace.get("feedback_scores"))):
        name = score.get("name")
        if not is_success(name, chosen):
            ignored[f"scores named {quoted_name(name)}"] += 1
            continue
        judge = JUDGE if score.get("source") == _JUDGED else ""
        verdict = success_verdict(
            trace_id_of(FORMAT, trace.get("id")).hex(),
            f"{judge}{FORMAT} {name}",
            score.get("value"),
            label=as_json(score["category_name"]) if score.get("category_name") else None,
            evidence=score.get("reason"),
        )
        if verdict:
            yield verdict
        else:
            ignored["scores that are not a number from 0 to 1"] += 1
