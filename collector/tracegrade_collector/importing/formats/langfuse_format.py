"""The format `langfuse`: traces with observations, or observations alone, → spans.

A file is an export of observations (a list, or one a line; in camelCase or snake_case), of traces
with their observations, or of scores. Ids, attributes and scope that Langfuse kept of an
OpenTelemetry span are restored. Inputs and outputs become messages, arguments and results of the
GenAI conventions.

An observation whose parent was never sent to Langfuse is a root: one with
`isRootObservation` (since July 2026), or whose parent its trace lacks.

The form is that of https://github.com/langfuse/langfuse (`observations-v2.yml` of its interface,
5752e54), compared in December 2026.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tracegrade import names
from tracegrade_collector.importing.formats.langfuse_scores import FORMAT, is_score, verdicts_of
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.message_shapes import (
    plain,
    read_chat_content,
    unpacked,
    unpacked_arguments,
)
from tracegrade_collector.importing.records import FileRecord, JsonObject, read_records
from tracegrade_collector.importing.scores import COST
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.span_parts import (
    add_attributes,
    as_json,
    one_scope,
    part_of,
    search_attributes,
    span_id_of,
    trace_id_of,
)
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import SCOPE
from tracegrade_collector.importing.usage import langfuse_usage
from tracegrade_collector.importing.verdict_rows import VerdictRecord

_MODEL: Final = "chat"
_RETRIEVAL: Final = "retrieval"
_OPERATIONS: Final = {
    "AGENT": names.INVOKE_AGENT,
    "EMBEDDING": "embeddings",
    "GENERATION": _MODEL,
    "RETRIEVER": _RETRIEVAL,
    "TOOL": names.EXECUTE_TOOL,
}
_TYPES: Final = {*_OPERATIONS, "SPAN", "EVENT", "CHAIN", "EVALUATOR", "GUARDRAIL"}
_TOOL_NAMES: Final = (names.TOOL_NAME, "tool.name", "ai.toolCall.name")
_CALL_IDS: Final = (names.TOOL_CALL_ID, "tool_call.id", "ai.toolCall.id")
_AGENT_PREFIX: Final = re.compile(r"(?:invoke_agent|agent_run) +\[?")
_PARENT: Final = "parentObservationId"
_APP_ROOT: Final = "langfuse.internal.is_app_root"
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WORKFLOW: Final = "Agent workflow"
"""Name that OpenAI's Agents SDK gives to a run."""
_NAME_PREFIX: Final = re.compile(r"(?:execute_tool|running tool:) +")


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return any(
        is_score(trace) or any(map(_is_observation, _observations(trace)[:1]))
        for trace in _traces(record)
    )


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each trace, observation or score, and one for each faulty record.

    `--map success=NAME` names the scores that are verdicts.
    """
    with open_plain(path) as file:
        for record in read_records(file):
            yield from _parts(f"{path}:{record.line}", record, reading.paths.get("success"))


def _parts(location: str, record: FileRecord, score: str | None) -> Iterator[ImportPart]:
    traces = _traces(record.value)
    if record.fault or not traces:
        lacks = "neither a trace, an observation nor a score of Langfuse"
        yield ImportPart(location, fault=record.fault or lacks)
    for trace in traces:
        yield (
            _of_score(location, trace, score) if is_score(trace) else _part(location, trace, score)
        )


def _of_score(location: str, found: JsonObject, score: str | None) -> ImportPart:
    ignored: Counter[str] = Counter()
    verdicts = list(verdicts_of([found], score, ignored))
    return ImportPart(location, verdicts=verdicts, understood=_scores(verdicts), ignored=ignored)


def _part(location: str, trace: JsonObject, score: str | None) -> ImportPart:
    ignored: Counter[str] = Counter()
    scores = [_camel_case(each) for each in _list(trace.get("scores"))]
    of_trace = ({"traceId": trace.get("id"), **each} for each in scores)
    verdicts = list(verdicts_of(of_trace, score, ignored))
    request = ExportTraceServiceRequest()
    for found in _with_roots(_observations(trace), is_whole="id" in trace):
        if _is_observation(found):
            request.MergeFrom(_request(found, trace, ignored))
        else:
            ignored["observations without an id, a trace or a type"] += 1
    if not request.resource_spans:
        ignored["traces without their observations"] += 1
    part = part_of(location, request, +ignored)
    understood = Counter(part.understood) + _scores(verdicts)
    return part._replace(verdicts=verdicts, understood=understood)


def _scores(verdicts: Sequence[VerdictRecord]) -> Counter[str]:
    return +Counter({"scores": len(verdicts)})


def _traces(record: Any) -> Sequence[JsonObject]:
    """Return the traces in a record; an observation alone is one, and so is a score."""
    if not isinstance(record, dict):
        return ()
    data = record.get("data")
    if isinstance(data, list):
        return [trace for each in data for trace in _traces(each)]
    if isinstance(record.get("trace"), dict):
        return [{**record["trace"], "observations": record.get("observations")}]
    if isinstance(record.get("observations"), list):
        return [record]
    found = _camel_case(record)
    if is_score(found):
        return [found]
    return [{"observations": [found]}] if _is_observation(found) else []


def _observations(trace: JsonObject) -> Sequence[JsonObject]:
    return [_camel_case(each) for each in _list(trace.get("observations"))]


def _with_roots(observations: Sequence[JsonObject], *, is_whole: bool) -> Iterator[JsonObject]:
    """Yield the observations; a root has no parent.

    Args:
        observations: Those of a trace.
        is_whole: Whether they are all that Langfuse has of it.
    """
    ids = {found.get("id") for found in observations if isinstance(found.get("id"), str)}
    for found in observations:
        parent = found.get(_PARENT)
        is_absent = is_whole and isinstance(parent, str) and parent not in ids
        yield {**found, _PARENT: None} if is_absent or _is_app_root(found) else found


def _is_app_root(found: JsonObject) -> bool:
    """Return whether Langfuse takes an observation for a root, also below a parent."""
    stored = _object(_object(found.get("metadata")).get("attributes"))
    return found.get("isRootObservation") is True or str(stored.get(_APP_ROOT)).lower() == "true"


def _camel_case(value: Any) -> JsonObject:
    """Return an observation with the names of its members as the interface writes them."""
    members = value if isinstance(value, dict) else {}
    return {re.sub(r"_(\w)", lambda m: m[1].upper(), key): members[key] for key in members}


def _is_observation(value: JsonObject) -> bool:
    return bool(value.get("id") and value.get("traceId")) and str(value.get("type")) in _TYPES


def _request(
    found: JsonObject, trace: JsonObject, ignored: Counter[str]
) -> ExportTraceServiceRequest:
    metadata = _object(found.get("metadata"))
    scope = _object(metadata.get("scope"))
    resource = {
        **_object(metadata.get("resourceAttributes")),
        names.ENVIRONMENT: found.get("environment") or trace.get("environment"),
    }
    if trace.get("release"):
        resource[names.SERVICE_VERSION] = trace["release"]
    return one_scope(
        [_span(found, trace, _object(metadata.get("attributes")), ignored)],
        resource,
        as_json(scope.get("name") or SCOPE),
        as_json(scope.get("version") or ""),
    )


def _span(found: JsonObject, trace: JsonObject, stored: JsonObject, ignored: Counter[str]) -> Span:
    """Return the span; Langfuse's own fields precede the attributes that it kept."""
    start = nanoseconds(found.get("startTime"))
    span = Span(
        trace_id=trace_id_of(FORMAT, found["traceId"]),
        span_id=span_id_of(FORMAT, found["id"]),
        name=as_json(found.get("name") or ""),
        start_time_unix_nano=start or 0,
        end_time_unix_nano=nanoseconds(found.get("endTime")) or start or 0,
    )
    if parent := found.get("parentObservationId"):
        span.parent_span_id = span_id_of(FORMAT, parent)
    if found.get("level") == "ERROR":
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = as_json(found.get("statusMessage") or "")
    attributes = _observation_attributes(found, stored, ignored)
    if not parent:
        attributes |= {
            names.CONVERSATION_ID: trace.get("sessionId") or found.get("sessionId"),
            names.IMPORT_FORMAT: FORMAT,
        }
    add_attributes(span.attributes, {**stored, **_given(attributes)})
    return span


def _observation_attributes(
    found: JsonObject, stored: JsonObject, ignored: Counter[str]
) -> dict[str, Any]:
    operation = _operation(found, stored)
    attributes: dict[str, Any] = {names.OPERATION_NAME: operation}
    if operation == names.EXECUTE_TOOL:
        return attributes | _tool(found, stored)
    if operation in (names.INVOKE_AGENT, _MODEL):
        attributes |= _messages(found, ignored)
    if operation == _RETRIEVAL:
        attributes |= search_attributes(unpacked(found.get("input")), found.get("output"))
    if operation == names.INVOKE_AGENT:
        attributes[names.AGENT_NAME] = _agent_name(found, stored)
    if operation == _MODEL:
        attributes |= {"gen_ai.request.model": found.get("model"), **_tokens(found)}
        attributes[COST] = _cost(found)
    return attributes


def _agent_name(found: JsonObject, stored: JsonObject) -> str | None:
    """Return an agent's name; the name of a trace or of a workflow is not its own."""
    if stated := stored.get(names.AGENT_NAME):
        return as_json(stated)
    if found["type"] != "AGENT" or found.get("name") == _WORKFLOW:
        return None
    name = _AGENT_PREFIX.sub("", as_json(found.get("name") or "")).removesuffix("]")
    return None if _UUID.fullmatch(name) else name or None


def _operation(found: JsonObject, stored: JsonObject) -> str | None:
    """Return an observation's kind; one without a parent or another kind is the run."""
    kind = "TOOL" if _is_tool(found, stored) else str(found["type"])
    is_root = not found.get("parentObservationId")
    return _OPERATIONS.get(kind, names.INVOKE_AGENT if is_root else None)


def _is_tool(found: JsonObject, stored: JsonObject) -> bool:
    """Return whether a tool ran; for older SDKs without that type, LangChain's answer shows it."""
    return stored.get("openinference.span.kind") == "TOOL" or (
        found["type"] == "SPAN" and _answer_message(found) is not None
    )


def _answer_message(found: JsonObject) -> JsonObject | None:
    """Return LangChain's message of a tool, if an observation's output is one."""
    output = unpacked(found.get("output"))
    message = plain(output.get("output", output)) if isinstance(output, dict) else None
    if isinstance(message, dict) and "tool" in (message.get("type"), message.get("role")):
        return message
    return None


def _tool(found: JsonObject, stored: JsonObject) -> dict[str, Any]:
    arguments = unpacked_arguments(found.get("input"))
    if isinstance(arguments, dict) and [*arguments] == ["input"]:
        arguments = unpacked_arguments(arguments["input"])
    answer = _answer_message(found) or {}
    result = answer.get("content", found.get("output"))
    name = _first(stored, _TOOL_NAMES) or answer.get("name") or found.get("name") or ""
    failed = answer.get("status") == "error"
    return {
        names.TOOL_NAME: _NAME_PREFIX.sub("", as_json(name)),
        names.TOOL_CALL_ID: _first(stored, _CALL_IDS) or answer.get("tool_call_id"),
        names.TOOL_CALL_ARGUMENTS: arguments if arguments is None else as_json(arguments),
        names.TOOL_CALL_RESULT: result if result in (None, {}) else as_json(result),
        names.ERROR_TYPE: "tool_error" if failed else None,
    }


def _messages(found: JsonObject, ignored: Counter[str]) -> dict[str, Any]:
    input_chat = read_chat_content(found.get("input"), "user", ignored)
    output_chat = read_chat_content(found.get("output"), "assistant", ignored)
    return {
        names.INPUT_MESSAGES: as_json(input_chat.messages) if input_chat.messages else None,
        names.OUTPUT_MESSAGES: as_json(output_chat.messages) if output_chat.messages else None,
        names.TOOL_DEFINITIONS: as_json(input_chat.tools) if input_chat.tools else None,
    }


def _tokens(found: JsonObject) -> dict[str, Any]:
    usage = _object(found.get("usage")) | _object(found.get("usageDetails"))
    return dict(langfuse_usage(usage))


def _cost(found: JsonObject) -> float | None:
    """Return the cost of a model call, as reported or as Langfuse computed it."""
    details = _object(found.get("providedCostDetails")) or _object(found.get("costDetails"))
    cost = _first({**found, **details}, ("total", "totalCost", "calculatedTotalCost"))
    return float(cost) if isinstance(cost, int | float) and cost >= 0 else None


def _first(values: JsonObject, keys: Sequence[str]) -> Any:
    return next((values[key] for key in keys if values.get(key) not in (None, "")), None)


def _given(values: JsonObject) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, {})}


def _object(value: Any) -> dict[str, Any]:
    value = unpacked(value)
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
