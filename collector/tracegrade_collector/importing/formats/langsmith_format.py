"""The format `langsmith`: runs as LangSmith exports them, as JSON lines or Parquet, → spans.

A run becomes the span that LangSmith's OpenTelemetry exporter would write, so that both ways give
the same steps. Inputs, outputs and extra may be JSON in a text; runs may hold their children.

The form is that of https://github.com/langchain-ai/langsmith-sdk (the module `langsmith.schemas`,
017fb35), compared in December 2026.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tracegrade import names
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.message_shapes import unpacked
from tracegrade_collector.importing.records import FileRecord, JsonObject
from tracegrade_collector.importing.scores import (
    COST,
    is_success,
    quoted_name,
    success_verdict,
)
from tracegrade_collector.importing.span_parts import (
    add_attributes,
    as_json,
    one_scope,
    part_of,
    span_id_of,
    trace_id_of,
)
from tracegrade_collector.importing.tables import read_table, time_ns
from tracegrade_collector.importing.usage import read_usage
from tracegrade_collector.importing.verdict_rows import VerdictRecord

FORMAT: Final = "langsmith"
SCOPE: Final = "langsmith"

_TYPES: Final = {"chain", "embedding", "llm", "parser", "prompt", "retriever", "tool"}
_OPERATIONS: Final = {
    "chain": "chain",
    "embedding": "embeddings",
    "llm": "chat",
    "retriever": "embeddings",
    "tool": names.EXECUTE_TOOL,
}


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return any(_is_run(run) for run in _runs(record))


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each run with its children, and one for each faulty record.

    `--map success=KEY` names the feedback that is a verdict.
    """
    for record in read_table(path):
        yield from _parts(f"{path}:{record.line}", record, reading.paths.get("success"))


def _parts(location: str, record: FileRecord, feedback: str | None) -> Iterator[ImportPart]:
    runs = _runs(record.value)
    if record.fault or not runs:
        yield ImportPart(
            location, fault=record.fault or "not a LangSmith run: it is not an object"
        )
    for run in runs:
        if _is_run(run):
            ignored: Counter[str] = Counter()
            verdicts = list(_verdicts(run, feedback, ignored))
            spans = list(_spans(run, None, None))
            part = part_of(location, one_scope(spans, {}, SCOPE), ignored)
            understood = Counter(part.understood) + Counter({"scores": len(verdicts)})
            yield part._replace(verdicts=verdicts, understood=understood)
        else:
            yield ImportPart(location, fault="no run of LangSmith: it lacks an id or a run_type")


def _runs(record: Any) -> list[Any]:
    if not isinstance(record, dict):
        return []
    runs = record.get("runs")
    return runs if isinstance(runs, list) else [record]


def _is_run(value: Any) -> bool:
    return (
        isinstance(value, dict) and bool(value.get("id")) and str(value.get("run_type")) in _TYPES
    )


def _verdicts(
    run: JsonObject, feedback: str | None, ignored: Counter[str], *, is_child: bool = False
) -> Iterator[VerdictRecord]:
    """Yield a verdict for each feedback on a whole trace's success: its mean."""
    is_root = not is_child and not run.get("parent_run_id")
    for key, stats in _object(run.get("feedback_stats")).items():
        if not is_root or not is_success(key, feedback):
            ignored[f"feedback {quoted_name(key)}"] += 1
            continue
        trace = trace_id_of(FORMAT, run.get("trace_id") or _trace_of(run)).hex()
        verdict = success_verdict(trace, f"{FORMAT} {key}", _object(stats).get("avg"))
        if verdict:
            yield verdict
        else:
            ignored["scores that are not a number from 0 to 1"] += 1
    for child in _children(run):
        yield from _verdicts(child, feedback, ignored, is_child=True)


def _spans(run: JsonObject, trace: Any, parent: Any) -> Iterator[Span]:
    """Yield the span of a run and its children's, which may lack trace and parent."""
    trace = run.get("trace_id") or trace or _trace_of(run)
    parent = run.get("parent_run_id") or parent
    yield _span(run, trace, parent)
    for child in _children(run):
        yield from _spans(child, trace, run["id"])


def _children(run: JsonObject) -> Iterator[JsonObject]:
    children = run.get("child_runs")
    return filter(_is_run, children if isinstance(children, list) else ())


def _trace_of(run: JsonObject) -> Any:
    """Return the id of the trace: the root's, with which the dotted order begins."""
    root = str(run.get("dotted_order") or "").partition(".")[0]
    return root.partition("Z")[2] or run["id"]


def _span(run: JsonObject, trace: Any, parent: Any) -> Span:
    start = time_ns(run.get("start_time"))
    span = Span(
        trace_id=trace_id_of(FORMAT, trace),
        span_id=span_id_of(FORMAT, run["id"]),
        name=as_json(run.get("name") or ""),
        start_time_unix_nano=start,
        end_time_unix_nano=time_ns(run.get("end_time")) or start,
    )
    if parent:
        span.parent_span_id = span_id_of(FORMAT, parent)
    if error := run.get("error"):
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = as_json(error)
        event = span.events.add(name="exception", time_unix_nano=span.end_time_unix_nano)
        add_attributes(event.attributes, {names.EXCEPTION_MESSAGE: as_json(error)})
    add_attributes(span.attributes, _attributes(run))
    if not parent:
        add_attributes(span.attributes, {names.IMPORT_FORMAT: FORMAT})
    return span


def _attributes(run: JsonObject) -> dict[str, Any]:
    extra = _object(run.get("extra"))
    metadata = _object(extra.get("metadata")) or _object(run.get("metadata"))
    parameters = _object(extra.get("invocation_params"))
    kind = run["run_type"]
    return {
        "langsmith.span.kind": kind,
        "langsmith.trace.name": run.get("name"),
        "langsmith.trace.session_name": run.get("session_name"),
        names.OPERATION_NAME: _OPERATIONS.get(kind, kind),
        names.TOOL_NAME: run.get("name") if kind == "tool" else None,
        "gen_ai.request.model": metadata.get("ls_model_name") or parameters.get("model"),
        "gen_ai.prompt": _json(run.get("inputs")),
        "gen_ai.completion": _json(run.get("outputs")),
        **_tokens(run),
        COST: _cost(run.get("total_cost")) if kind == "llm" else None,
        names.TOOL_DEFINITIONS: _json(parameters.get("tools") or metadata.get("tools")),
        **{f"langsmith.metadata.{key}": value for key, value in metadata.items()},
    }


def _json(value: Any) -> str | None:
    value = unpacked(value)
    return None if value in (None, "", {}) else as_json(value)


def _tokens(run: JsonObject) -> dict[str, int]:
    """Return LangSmith's token counts, else the model's; LangSmith counts none as zero."""
    outputs = _object(run.get("outputs"))
    metadata = _object(_object(run.get("extra")).get("metadata"))
    usage = _object(outputs.get("usage_metadata")) or _object(metadata.get("usage_metadata"))
    counted = {
        "gen_ai.usage.input_tokens": _count(run.get("prompt_tokens")),
        "gen_ai.usage.output_tokens": _count(run.get("completion_tokens")),
    }
    return read_usage(usage) | {name: count for name, count in counted.items() if count}


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**62 else None


def _cost(value: Any) -> float | None:
    """Return the cost of a model call; decimals are written as text."""
    try:
        cost = float(value)
    except (TypeError, ValueError):
        return None
    return cost if cost >= 0 else None


def _object(value: Any) -> dict[str, Any]:
    value = unpacked(value)
    return value if isinstance(value, dict) else {}
