"""Traces for the tests: captured ones by name, and hand-made ones span by span.

All of them take the way of real ones: OTLP/JSON, decoded and landed by the collector's own code.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.redact.pseudonyms import Pseudonyms
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.rows import Record, log_rows, span_rows
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

CAPTURES = Path(__file__).parent / "captures"
NOON_NS = 1_790_000_000_000_000_000  # 2026-09-21 14:13:20 UTC
DAY_NS = 86_400_000_000_000
MS = 1_000_000

Row = dict[str, Any]


def captures() -> list[str]:
    """Return the names of all captured traces, sorted."""
    return sorted(path.stem for path in CAPTURES.glob("spans/*/*.json"))


def capture_path(name: str) -> Path:
    """Return the file of a captured trace, in the folder of its framework."""
    return CAPTURES / "spans" / name.partition("_")[0] / f"{name}.json"


def capture(name: str) -> bytes:
    """Return a captured trace as the OTLP/JSON request it was."""
    return capture_path(name).read_bytes()


def logs_of(name: str) -> list[bytes]:
    """Return the log records captured beside a trace as the requests they were; maybe none."""
    path = CAPTURES / "logs" / f"{name}.json"
    return [path.read_bytes()] if path.exists() else []


def span(  # noqa: PLR0913 - a span has that many fields, and tests set one or two each
    number: int,
    parent: int | None = None,
    *,
    at: float = 0,
    ms: float = 1,
    trace: int = 1,
    scope: str = "test",
    name: str = "",
    error: str | None = None,
    links: Iterable[int] = (),
    **attributes: object,
) -> Row:
    """Return one OTLP/JSON span with its scope; attribute keys are written with `__` for dots."""
    start = NOON_NS + int(at * MS)
    return {
        "scope": scope,
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + int(ms * MS)),
        "status": {} if error is None else {"code": 2, "message": error},
        "attributes": [
            {"key": key.replace("__", "."), "value": _value(value)}
            for key, value in attributes.items()
        ],
        "links": [{"traceId": f"{trace:032x}", "spanId": f"{to:016x}"} for to in links],
    }


def agent(number: int, parent: int | None = None, *, agent_name: str = "a", **fields: Any) -> Row:
    """Return an agent span of the GenAI conventions."""
    attributes = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": agent_name}
    return span(number, parent, **{"ms": 100, **attributes, **fields})


def tool(number: int, parent: int | None = None, *, tool_name: str = "t", **fields: Any) -> Row:
    """Return a tool span of the GenAI conventions."""
    attributes = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": tool_name}
    return span(number, parent, **{**attributes, **fields})


def model(
    number: int,
    parent: int | None = None,
    *,
    said: list[Row] | None = None,
    heard: list[Row] | None = None,
    **fields: Any,
) -> Row:
    """Return a model span of the GenAI conventions; `said` and `heard` are lists of messages."""
    attributes: Row = {"gen_ai__operation__name": "chat"}
    if said is not None:
        attributes["gen_ai__output__messages"] = json.dumps(said)
    if heard is not None:
        attributes["gen_ai__input__messages"] = json.dumps(heard)
    return span(number, parent, **{**attributes, **fields})


def with_events(span: Row, *events: tuple[str, Row]) -> Row:
    """Return the span with events, each a name and its attributes."""
    return span | {
        "events": [
            {
                "timeUnixNano": str(int(span["startTimeUnixNano"]) + position),
                "name": name,
                "attributes": [
                    {"key": key, "value": {"stringValue": value}} for key, value in told.items()
                ],
            }
            for position, (name, told) in enumerate(events)
        ]
    }


def message(role: str, *parts: Row | str) -> Row:
    """Return a message; a text is a text part."""
    return {
        "role": role,
        "parts": [
            {"type": "text", "content": part} if isinstance(part, str) else part for part in parts
        ],
    }


def request(tool_name: str, call_id: str | None = None, **arguments: object) -> Row:
    """Return the part of a message that requests a tool."""
    return {"type": "tool_call", "id": call_id, "name": tool_name, "arguments": arguments}


def response(result: object, call_id: str | None = None) -> Row:
    """Return the part of a message that tells the model a tool's result."""
    return {"type": "tool_call_response", "id": call_id, "response": result}


def request_of(spans: Iterable[Row], resource: Mapping[str, str] | None = None) -> bytes:
    """Return the OTLP/JSON request that exports the spans; their resource may say more."""
    described = {"service.name": "svc", **(resource or {})}
    scope_spans = [
        {
            "scope": {"name": item["scope"]},
            "spans": [{key: value for key, value in item.items() if key != "scope"}],
        }
        for item in spans
    ]
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in described.items()]
    resource_spans = {"resource": {"attributes": attributes}, "scopeSpans": scope_spans}
    body = {"resourceSpans": [resource_spans]}
    return json.dumps(body).encode()


def logs_request_of(records: Iterable[Row], scope: str = "") -> bytes:
    """Return the OTLP/JSON request that exports log records."""
    scope_logs = {"scope": {"name": scope}, "logRecords": list(records)}
    return json.dumps({"resourceLogs": [{"resource": {}, "scopeLogs": [scope_logs]}]}).encode()


def apart(runs: Iterable[Iterable[Row]]) -> list[Row]:
    """Return the spans of these runs as traces of their own, whose ids are numbers from 1."""
    return [
        each | {"traceId": f"{trace:032x}"}
        for trace, spans in enumerate(runs, 1)
        for each in spans
    ]


def built_apart(folder: Path, runs: Iterable[Iterable[Row]]) -> Lake:
    """Return a lake in which these runs were built at once, which is as good as one by one."""
    lake = Lake.create(folder / "lake")
    land(lake, request_of(apart(runs)))
    build(lake)
    return lake


def land(lake: Lake, *bodies: bytes, seq: int = 1, day: int = 0, collector: str = "c") -> None:
    """Land OTLP/JSON requests as a collector would: numbered from `seq`, received on `day`."""
    received = NOON_NS + day * DAY_NS
    records = [
        Record(number, received, Signal.TRACES, Encoding.JSON, "", body)
        for number, body in enumerate(bodies, seq)
    ]
    lake.append(RAW_SPANS, span_rows(records, collector))


def take_all(con: duckdb.DuckDBPyConnection) -> None:
    """Let all traces of a lake be one bucket, as `split_into_steps` wants it."""
    con.execute(
        "CREATE TEMP TABLE bucket_traces AS "
        "SELECT trace_id, min(date) AS date, count(*) AS records, "
        "max(received_ns) AS received_ns, bool_and(collector_id = 'import') AS imported "
        "FROM spans GROUP BY trace_id"
    )


def land_redacted(
    lake: Lake, *bodies: bytes, encoding: Encoding = Encoding.JSON, is_repaired: bool = False
) -> None:
    """Land requests as `land` does, without their secrets and with values of at most 2 kB.

    Of a repaired one some values were replaced when it was read, which its rows then say.
    """
    secret = Pseudonyms(b"secret of the test")
    clean = Redactor(secret, max_value_bytes=2048, max_blob_bytes=32_000)
    records = [
        Record(1, NOON_NS, Signal.TRACES, encoding, "", body, is_repaired) for body in bodies
    ]
    lake.append(RAW_SPANS, clean.redact_rows(span_rows(records, "c"), [1] * is_repaired))


def land_logs(
    lake: Lake, *bodies: bytes, seq: int = 1, day: int = 0, collector: str = "c"
) -> None:
    """Land OTLP/JSON requests of log records as `land` does."""
    received = NOON_NS + day * DAY_NS
    records = [
        Record(number, received, Signal.LOGS, Encoding.JSON, "", body)
        for number, body in enumerate(bodies, seq)
    ]
    lake.append(RAW_LOGS, log_rows(records, collector))


class TraceRows(NamedTuple):
    """The rows of one trace of a lake: what `rows` and `story` read as if there were no others."""

    con: duckdb.DuckDBPyConnection


def rows(lake: Lake | TraceRows, sql: str) -> list[Row]:
    """Return the rows of a query over the lake as dictionaries."""
    if isinstance(lake, TraceRows):
        return as_dicts(lake.con.sql(sql))
    with connect(lake) as con:
        return as_dicts(con.sql(sql))


def as_dicts(relation: duckdb.DuckDBPyRelation) -> list[Row]:
    """Return the rows of a relation as dictionaries."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def story_apart(lake: Lake | TraceRows, runs: int) -> list[list[str]]:
    """Return the story of each of so many runs of `built_apart`."""
    found = rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index")
    stories: list[list[str]] = [[] for _ in range(runs)]
    for row in found:
        stories[int(row["trace_id"], 16) - 1].append(line(row))
    return stories


def story(lake: Lake | TraceRows, trajectory: str = "") -> list[str]:
    """Return each step in one line: kind, tool with arguments, status, what was said."""
    found = rows(
        lake,
        f"SELECT * FROM steps WHERE starts_with(trajectory_id, '{trajectory}') "
        "ORDER BY trajectory_id, step_index",
    )
    return [line(row) for row in found]


def line(row: Mapping[str, Any]) -> str:
    """Return a step as its kind, tool, arguments, status and what was said."""
    named = ["kind", "tool_name", "arguments", "status", "content"]
    if row["kind"] == "observation":
        named = ["kind", "content"]
    return " ".join(str(row[name]) for name in named if row[name] is not None)


def _value(value: object) -> Row:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}
