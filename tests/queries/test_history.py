"""A message in many calls' inputs is read once, and belongs to the input of each."""

import json
from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from hypothesis import strategies as st
from tests.drawn import drawn

from tracegrade_queries.relations import RELATIONS

LONG = "Be kind. " * 400
INPUT = "gen_ai.input.messages"
SPANS = "key BIGINT, trace_id VARCHAR, scope_name VARCHAR, attributes MAP(VARCHAR, VARCHAR)"
EVENTS = "key BIGINT, name VARCHAR, attributes MAP(VARCHAR, VARCHAR)"
COMPACT = (",", ":")

Message = dict[str, Any]

texts = st.sampled_from(["yes", "né", "}]", '"}]},', "[", "", "日本語", "\\", '"finish_reason"'])
parts = st.one_of(
    st.builds(lambda text: {"type": "text", "content": text}, texts),
    st.builds(lambda text: {"type": "tool_call", "id": text, "name": "f", "arguments": {}}, texts),
    st.builds(lambda text: {"type": "tool_call_response", "id": "c", "response": text}, texts),
    st.builds(
        lambda text: {"type": "server_tool_call", "id": "s", "server_tool_call": {"query": text}},
        texts,
    ),
)
roles = st.sampled_from(["user", "assistant", "tool"])
messages = st.one_of(
    st.builds(
        lambda role, told: {"role": role, "parts": told}, roles, st.lists(parts, max_size=3)
    ),
    st.builds(lambda end: {"role": "user", "parts": [], "finish_reason": end}, texts),
    st.just("no message"),
)
conversations = st.shared(st.lists(messages, min_size=6, max_size=9), key="conversation")
opening = st.builds(
    lambda text: {"role": "system", "parts": [{"type": "text", "content": LONG + text}]},
    st.sampled_from(["", " Be quick."]),
)


@st.composite
def told(draw: st.DrawFn) -> str:
    """Draw an input as it is written: a beginning of one of two conversations, or a broken one."""
    heard = [
        draw(opening),
        *draw(st.shared(st.lists(messages, min_size=6, max_size=9), key="said")),
    ]
    kept = heard[: draw(st.integers(1, len(heard)))]
    if draw(st.booleans()):
        kept += draw(st.lists(messages, max_size=2))
    written = json.dumps(kept, separators=draw(st.sampled_from([COMPACT, None])))
    return written[:-1] if draw(st.integers(0, 9)) == 0 else written


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    """An engine without events."""
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.execute(f"CREATE TABLE bucket_events ({EVENTS})")
    return con


def test_history_is_heard_as_if_each_list_was_read_whole(con: duckdb.DuckDBPyConnection) -> None:
    """Whatever conversations meet in a trace, and however their lists are written."""
    traces = drawn(st.lists(told(), min_size=2, max_size=6))
    by_history, read_whole = (heard(con, traces, by_history=each) for each in (True, False))

    assert [
        (lists, parts, whole)
        for lists, parts, whole in zip(traces, by_history, read_whole, strict=True)
        if parts != whole
    ] == []
    assert len(read_whole) == len(traces)


def test_what_was_heard_before_is_not_read_again(con: duckdb.DuckDBPyConnection) -> None:
    """Of each list but the first only what is new."""
    said = [
        {"role": "user", "parts": [{"type": "text", "content": LONG * n}]} for n in range(1, 9)
    ]
    read(con, [[json.dumps(said[:n]) for n in range(1, 9)]])

    rests = con.sql("SELECT rest FROM otel_genai_history ORDER BY position").fetchall()

    assert [json.loads(rest) for (rest,) in rests] == [[each] for each in said[1:]]


def heard(
    con: duckdb.DuckDBPyConnection, traces: Sequence[Sequence[str]], *, by_history: bool
) -> list[list[tuple[Any, ...]]]:
    """Return all parts of messages that each trace tells, sorted."""
    trace_of = read(con, traces)
    if not by_history:
        con.execute("DELETE FROM otel_genai_history")
    for name in ("otel_genai_plain_chat", "otel_genai_plain_parts"):
        RELATIONS.make(con, name)
    RELATIONS.make(con, "otel_genai_messages_read")
    con.execute("CREATE OR REPLACE TEMP TABLE shapes (shape BIGINT, names VARCHAR[])")
    con.execute("ALTER TABLE bucket_spans ADD COLUMN shape BIGINT")
    for name in ("otel_genai_hosted", "otel_genai_grounded", "otel_genai_thoughts"):
        RELATIONS.make(con, name)
    for name in ("otel_genai_parts", "otel_genai_messages"):
        RELATIONS.make(con, name)
    found: list[list[tuple[Any, ...]]] = [[] for _ in traces]
    for key, *part in con.sql("SELECT key, * FROM otel_genai_messages ORDER BY ALL").fetchall():
        found[trace_of[key]].append(tuple(part))
    return found


def read(con: duckdb.DuckDBPyConnection, traces: Sequence[Sequence[str]]) -> list[int]:
    """Make the lists of these traces, and their history; return the trace of each key."""
    con.execute(f"CREATE OR REPLACE TABLE bucket_spans ({SPANS})")
    told = [(trace, text) for trace, lists in enumerate(traces) for text in lists]
    rows = [[key, str(trace), {INPUT: text}] for key, (trace, text) in enumerate(told)]
    con.executemany("INSERT INTO bucket_spans VALUES ($1, $2, 's', $3)", rows)
    for name in ("otel_genai_lists", "otel_genai_history"):
        RELATIONS.make(con, name)
    return [trace for trace, _ in told]
