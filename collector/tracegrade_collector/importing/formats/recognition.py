"""Keys that are typical of each format, to say why a file was taken for one, or for none.

The formats decide by themselves whether a file fits. These keys only explain it: those of a
file's first record, and of the first object in each of its lists, that are also a format's.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from tracegrade_collector.importing.mapping import MAX_KEY

MAX_KEYS: Final = 12
"""Keys that a message lists."""

_MOST_DEPTH: Final = 3
_ENOUGH: Final = 4
"""Keys that are reason enough for a format."""

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "otlp": ("resourceSpans", "resourceLogs", "scopeSpans", "scopeLogs"),
    "tempo": ("batches", "trace", "instrumentationLibrarySpans", "scopeSpans", "resource"),
    "langfuse": (
        *("observations", "traceId", "parentObservationId", "startTime", "usageDetails"),
        *("traceName", "completionStartTime", "dataType", "configId"),
    ),
    "langsmith": (
        *("run_type", "trace_id", "parent_run_id", "dotted_order", "child_runs", "session_id"),
        *("start_time", "inputs", "outputs", "extra"),
    ),
    "phoenix": ("context.trace_id", "context.span_id", "span_kind", "status_code", "parent_id"),
    "inspect": ("eval", "plan", "samples", "epoch", "scores", "results"),
    "tau2": (
        *("simulations", "agent_info", "user_info", "environment_info", "termination_reason"),
        *("reward_info", "task_id", "trial", "ticks"),
    ),
    "weave": (
        *("op_name", "started_at", "ended_at", "display_name", "wb_user_id", "parent_id"),
        "trace_id",
    ),
    "opik": (
        *("error_info", "feedback_scores", "thread_id", "span_count", "parent_span_id"),
        *("total_estimated_cost", "project_id", "spans", "trace"),
    ),
    "braintrust": (
        *("root_span_id", "span_parents", "span_attributes", "span_id", "scores", "metrics"),
        "_xact_id",
    ),
    "datadog": ("span_kind", "ml_app", "start_ns", "tool_definitions", "model_name", "span_id"),
    "honeycomb": ("trace.trace_id", "trace.span_id", "trace.parent_id", "duration_ms"),
    "jaeger": ("traceID", "spanID", "spans", "operationName", "processes", "references"),
    "verdicts": ("trajectory_id", "subject", "verdicts", "sub_goal", "value", "label", "source"),
    "qwen": ("uuid", "parentUuid", "sessionId", "parts", "usageMetadata", "systemPayload"),
    "claude-code": ("sessionId", "parentUuid", "uuid", "isSidechain", "leafUuid", "cwd"),
    "codex": ("timestamp", "payload", "originator", "cli_version", "instructions"),
    "gemini": ("sessionId", "projectHash", "startTime", "lastUpdated", "toolCalls", "thoughts"),
    "opencode": ("info", "parts", "projectID", "callID", "sessionID", "modelID"),
    "swe-agent": ("trajectory", "history", "info", "environment", "replay_config", "attempts"),
    "mini-swe-agent": ("trajectory_format", "messages", "info", "mini_version", "instance_id"),
    "openhands": (
        "kind",
        "llm_message",
        "tool_call_metadata",
        "llm_response_id",
        "cause",
        "extras",
        "history",
        "git_patch",
    ),
    "atif": ("schema_version", "steps", "step_id", "final_metrics", "session_id", "agent"),
    "messages": ("messages", "role", "content", "tool_calls", "steps", "task_id", "traj"),
}
"""By the format's name."""


def reason(format_name: str, record: Any, mapped: Collection[str]) -> str:
    """Return why a file with this first record was taken for a format, in brackets."""
    if keys := _common(format_name, record):
        return f"it has {', '.join(keys[:_ENOUGH])}"
    return "as --map says" if mapped else "by its content"


def unknown(record: Any) -> str:
    """Return a fault that names the keys of a first record, and the nearest format."""
    found = [key for key in dict.fromkeys(_keys(record, depth=_MOST_DEPTH)) if _is_plain(key)]
    shown = ", ".join(found[:MAX_KEYS]) or "none that can be shown"
    rest = f" and {len(found) - MAX_KEYS} more" if len(found) > MAX_KEYS else ""
    fact = f"no format reads this; its keys are {shown}{rest}"
    nearest = max(KEYS, key=lambda name: len(_common(name, record)))
    if not (keys := _common(nearest, record)):
        return f"{fact}; --format NAME says which format it is"
    return f"{fact}; the nearest format is {nearest}, which also has {', '.join(keys)}"


def _common(format_name: str, record: Any) -> list[str]:
    """Return the keys of a record that are a format's, in any spelling; as the record has them."""
    known = {_folded(key) for key in KEYS.get(format_name, ())}
    keys = dict.fromkeys(_keys(record, depth=_MOST_DEPTH))
    return [key for key in keys if _folded(key) in known and _is_plain(key)]


def _keys(value: Any, *, depth: int) -> Iterator[str]:
    """Yield the keys of a record, then those of the objects in it."""
    if isinstance(value, list):
        yield from _keys(
            next((each for each in value if isinstance(each, dict)), None), depth=depth
        )
    elif isinstance(value, dict) and depth:
        yield from value
        for inner in value.values():
            yield from _keys(inner, depth=depth - 1)


def _folded(key: str) -> str:
    return key.replace("_", "").lower()


def _is_plain(key: str) -> bool:
    return 0 < len(key) <= MAX_KEY and key.isprintable()
