"""The shared pass: turns the spans of one bucket of traces into steps and trajectories.

It knows no dialect. Each stage is one SQL file whose name is the relation it makes; `follow`
resolves chains of parents in between.

Makes:
    all_spans (from bucket_spans): all spans of a bucket, while bucket_spans is those of a dialect
    anchor_ends (from anchor_edges): where each chain ends, as do all whose names end like this
    canonical (from argument_texts): arguments as they are compared
    code_calls (from code_texts): tool calls in the Python code that agents write
    code_names (from code_texts): what that code defines
    copied_ends (from copied_edges): see anchor_ends
    dialect_messages (from bucket_events, bucket_spans, dialect_shapes): their messages
    dialect_operations (from bucket_events, bucket_spans, dialect_shapes): of spans
    judge_ends (from judge_edges): see anchor_ends
    deep_texts (from argument_texts): arguments that are nested too deeply to be read
    marked_names (from names_sent): which of them bear a mark of which dialect
    model_copy_ends (from model_copies, replayed_calls): see anchor_ends
    model_ends (from model_edges): see anchor_ends
    model_twin_ends (from model_twin_edges): see anchor_ends
    name_ends (from name_edges): see anchor_ends
    run_copy_ends (from run_copy_edges): see anchor_ends
    run_parent_ends (from run_parent_edges): see anchor_ends
    salvaged_events (from cut_events): what is whole of attributes of events that were cut
    salvaged_texts (from cut_texts): what is whole of attributes of spans that were cut
    tool_ends (from tool_edges): see anchor_ends
    unknown_ends (from unknown_edges): see anchor_ends
    unknown_fields (from names_sent): what attributes of spans that no dialect knows may hold
"""

from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import Table
from tracegrade_queries.build.ancestry import break_cycles, follow
from tracegrade_queries.build.canonical import canonical_texts
from tracegrade_queries.build.code_calls import code_calls, code_names
from tracegrade_queries.build.dialect import MESSAGES, OPERATIONS, Dialect, dialects
from tracegrade_queries.build.marks import marked_names
from tracegrade_queries.build.nesting import is_too_deep
from tracegrade_queries.build.salvage import whole_prefixes
from tracegrade_queries.build.unknown_fields import unknown_fields
from tracegrade_queries.engine.connection import duckdb_type
from tracegrade_queries.engine.relations import (
    given,
    has_rows,
    make_relation,
    make_table,
    make_view,
    put,
)
from tracegrade_queries.engine.sql import query
from tracegrade_queries.engine.statements import found, run

_MACROS: Final = (  # each may use those before it
    "position_gap",
    "position_by",
    "span_version",
    "told_usage",
    "is_pause",
    "tells_pause",
    "tells_limit",
    "json_once",
    "result_text",
    "without_blanks",
    "prompt_text",
    "result_is_error",
    "block_part",
    "hosted_part",
    "grounding_blocks",
    "chat_parts",
    "history_chat",
    "indexed_keys",
    "indexed_values",
    "half_shared",
    "is_random_id",
    "part_digest",
    "is_printed_object",
    "without_later_items",
    "plan_in",
    "headings_as_react",
    "last_texts",
    "crew_task",
    "llama_index_content",
    "python_text",
    "function_input",
    "printed_inputs",
    "framework_phrases",
    "unknown_tool_texts",
    "takes_nothing",
)
_CALLS: Final = (
    "id_matches",
    "argument_matches",
    "name_matches",
    "matches",
    "shared_responses",
    "responses",
    "tool_lists",
    "run_offered_tools",
    "control_tools",
    "answers",
    "unfinished_runs",
    "interrupted_runs",
    "unrecorded_calls",
    "runs_stopped_for_tools",
    "calls",
    "open_calls",
    "resumed_calls",
)
"""What came of the calls that models requested."""

_TEXTS: Final = ("utility_calls", "turns", "recovered_thoughts", "model_texts")
"""What agents were told and said."""

_STEPS: Final = (
    "inner_tools",
    "message_steps",
    "user_steps",
    "call_steps",
    "observers",
    "observation_steps",
    "shared_observation_steps",
    "span_steps",
    "root_answer_steps",
    "step_rows",
    "built_steps",
    "unrecorded_thoughts",
)
"""Steps of each kind, then all of a bucket."""

_SALVAGED: Final = """
SELECT {cut}.* EXCLUDE (name, text), map_from_entries(list(({cut}.name, prefix))) AS attributes
FROM {cut}
INNER JOIN whole_prefixes USING (text)
WHERE prefix IS NOT NULL
GROUP BY ALL
"""
_SALVAGED_NOTHING: Final = """
SELECT * EXCLUDE (name, text), NULL::MAP(VARCHAR, VARCHAR) AS attributes
FROM {cut}
LIMIT 0
"""
# What is left of a cut attribute takes its place, and its span says so.
_IN_SPANS: Final = """
UPDATE span_rows SET
  attributes = map_concat(span_rows.attributes, salvaged_texts.attributes),
  marks = coalesce(span_rows.marks, []) || ['salvaged']
FROM salvaged_texts
WHERE span_rows.rowid = salvaged_texts.key
"""
_MENDED: Final = """
UPDATE span_rows SET
  attributes = map_concat(span_rows.attributes, mended_texts.attributes),
  marks = coalesce(span_rows.marks, []) || ['invalid_unicode']
FROM mended_texts
WHERE span_rows.rowid = mended_texts.key
"""
_IN_EVENTS: Final = """
UPDATE bucket_events SET
  attributes = map_concat(bucket_events.attributes, salvaged_events.attributes)
FROM salvaged_events
WHERE bucket_events.key = salvaged_events.key
  AND bucket_events.position = salvaged_events.position
"""


# What hangs below a copy hangs below the span that counts.
_WITHOUT_COPIES: Final = """
DELETE FROM span_rows WHERE rowid IN (SELECT key FROM copied_spans);
UPDATE span_rows SET parent_span_id = copied_spans.kept_span_id
FROM copied_spans
WHERE span_rows.trace_id = copied_spans.trace_id
  AND span_rows.parent_span_id = copied_spans.span_id;
UPDATE span_rows SET linked_span_id = copied_spans.kept_span_id
FROM copied_spans
WHERE span_rows.trace_id = copied_spans.trace_id
  AND span_rows.linked_span_id = copied_spans.span_id
"""


# A note that a span has begun is the span, as long as that has not come.
_WITHOUT_PENDING: Final = """
DELETE FROM span_rows WHERE rowid IN (SELECT key FROM pending_spans WHERE is_superseded);
UPDATE span_rows SET
  span_id = pending_spans.span_id,
  parent_span_id = pending_spans.parent_span_id,
  is_local_root = pending_spans.parent_span_id IS NULL,
  ended = FALSE
FROM pending_spans
WHERE span_rows.rowid = pending_spans.key
"""


# They take most of the memory of a bucket, which serves for the steps then.
_WITHOUT_ATTRIBUTES: Final = """
ALTER TABLE span_rows DROP attributes;
ALTER TABLE span_rows ADD attributes MAP(VARCHAR, VARCHAR);
"""


# What copies change.
_RUNS_WITHOUT_COPIES: Final = """
UPDATE operation_runs SET run = copied_operations.run
FROM copied_operations
WHERE operation_runs.key = copied_operations.key;
DELETE FROM operation_runs WHERE run IS NULL;
"""


# What hung below the agent that called theirs.
_RUNS_WITH_THEIR_OWN: Final = """
UPDATE operation_runs SET run = moved_operations.run
FROM moved_operations
WHERE operation_runs.key = moved_operations.key
"""


# What an agent that goes on was given, and had no agent's span when it was asked for.
_RUNS_WITH_WHAT_ASKED: Final = "INSERT INTO operation_runs BY NAME FROM asking_calls"


# What a provider ran is a call of its own, also where an instrumentation made a span of it.
_EXECUTIONS_OF_CLIENTS: Final = """
DELETE FROM executions WHERE key IN (SELECT execution FROM provider_calls)
"""


def split_into_steps(con: duckdb.DuckDBPyConnection) -> None:
    """Make `built_steps`, `built_trajectories`, and what else is told of the bucket.

    That is `unread_scopes`, `detached_model_calls`, `fragments` and `evaluations`.

    Args:
        con: Holds `spans` and `bucket_traces` (trace_id, date, records, received_ns, imported):
            the traces to build.
    """
    define_macros(con)
    _make(con, "repeated_spans", "span_rows")
    make_view(con, "all_spans", query("bucket_spans"))
    make_view(con, "bucket_spans", "FROM all_spans")
    _make(con, "surplus_spans")
    if has_rows(con, "surplus_spans"):
        run(con, "DELETE FROM span_rows WHERE rowid IN (FROM surplus_spans)")
    _make(con, "pending_spans")
    if has_rows(con, "pending_spans"):
        run(con, _WITHOUT_PENDING)
    _make(con, "coinciding_spans", "copied_spans")
    if has_rows(con, "copied_spans"):
        run(con, _WITHOUT_COPIES)
    _make(con, "mended_texts")
    if has_rows(con, "mended_texts"):
        run(con, _MENDED)
    _make(con, "shapes", "response_ids", "cut_texts")
    _salvage(con, "cut_texts", "salvaged_texts", _IN_SPANS)
    _make(con, "bucket_events", "cut_events")
    _salvage(con, "cut_events", "salvaged_events", _IN_EVENTS)
    _read_dialects(con)
    _make(con, "pauses", "failed_exits", "user_requests", "stop_reasons")
    run(con, _WITHOUT_ATTRIBUTES)
    _make(con, "operations", "code_texts")
    _read_code(con)
    _place_in_runs(con)
    _make(con, "message_dialects", "message_parts")
    _make(con, "argument_texts")
    _canonicalise(con)
    _group_model_spans(con)
    _group_tool_spans(con)
    _make(con, *_CALLS)
    if has_rows(con, "provider_calls"):
        run(con, "INSERT INTO calls BY NAME FROM provider_calls")
    _make(con, *_TEXTS, *_STEPS)
    _make(con, "run_token_usage", "built_trajectories")
    _make(con, "copies", "unread_scopes", "detached_model_calls", "fragments")
    _make(con, "evaluation_results", "evaluations")


def define_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Define what queries of spans and messages call."""
    for macro in _MACROS:
        run(con, query(macro))


def _group_model_spans(con: duckdb.DuckDBPyConnection) -> None:
    """Make `model_calls` and `model_parts`: all spans that record one call are one row."""
    _make(con, "model_groups", "model_twin_candidates", "model_twin_edges")
    follow(con, "model_twin_edges", "model_twin_ends")
    _make(con, "model_members", "model_calls", "next_calls", "message_sources")
    _show(con, "recorded_parts")
    _make(con, "recovered_parts", "recovered_hosted")
    _show(con, "model_parts")


def _group_tool_spans(con: duckdb.DuckDBPyConnection) -> None:
    """Make `requests`, and `executions`: all spans that record one tool call are one row."""
    _make(con, "given_results", "carried_requests", "abandoned_requests")
    _make(con, "requests", "user_tools", "tool_spans")
    _make(con, "nested_tool_edges", "tool_twin_edges", "resumed_tool_edges")
    _make(con, "tool_edges")
    follow(con, "tool_edges", "tool_ends")
    _make(con, "executions", "provider_calls")
    if has_rows(con, "provider_calls"):
        run(con, _EXECUTIONS_OF_CLIENTS)


def _place_in_runs(con: duckdb.DuckDBPyConnection) -> None:
    """Make `operation_runs`: which run each operation belongs to."""
    _make(con, "span_parents", "cycle_candidates")
    break_cycles(con)
    _make(con, "judge_edges")
    follow(con, "judge_edges", "judge_ends")
    _make(con, "judging_spans")
    if has_rows(con, "judging_spans"):
        run(con, "DELETE FROM operations WHERE key IN (FROM judging_spans)")
    _make(con, "simulated_users")
    if has_rows(con, "simulated_users"):
        run(con, "DELETE FROM operations WHERE key IN (FROM simulated_users)")
    _make(con, "unknown_edges")
    follow(con, "unknown_edges", "unknown_ends")
    _make(con, "known_parents", "anchor_edges")
    follow(con, "anchor_edges", "anchor_ends")
    _make(
        con,
        "called_agents",
        "run_starts",
        "twin_edges",
        "lost_run_edges",
        "handoff_edges",
        "lost_handoff_edges",
        "run_parent_edges",
    )
    follow(con, "run_parent_edges", "run_parent_ends")
    _make(con, "operation_runs")
    _find_copies(con)
    _make(con, "run_ids", "run_agent_names", "name_edges")
    follow(con, "name_edges", "name_ends")


def _find_copies(con: duckdb.DuckDBPyConnection) -> None:
    """Take from `operation_runs` what was recorded before, and join the runs of replays."""
    _make(con, "model_edges")
    follow(con, "model_edges", "model_ends")
    _make(con, "repeating_traces", "model_records", "model_copies")
    follow(con, "model_copies", "model_copy_ends")
    _make(con, "run_copy_edges")
    follow(con, "run_copy_edges", "run_copy_ends")
    _make(con, "run_copies", "replayed_calls")
    run(con, "INSERT INTO model_copy_ends FROM replayed_calls")
    _make(con, "tool_records", "tool_copies", "copied_edges")
    follow(con, "copied_edges", "copied_ends")
    _make(con, "lone_copies", "copied_operations")
    if has_rows(con, "copied_operations"):
        run(con, _RUNS_WITHOUT_COPIES)
    _make(con, "moved_operations")
    if has_rows(con, "moved_operations"):
        run(con, _RUNS_WITH_THEIR_OWN)
    _make(con, "asking_calls")
    if has_rows(con, "asking_calls"):
        run(con, _RUNS_WITH_WHAT_ASKED)


def _make(con: duckdb.DuckDBPyConnection, *names: str) -> None:
    for name in names:
        make_relation(con, name, query(name))


def _show(con: duckdb.DuckDBPyConnection, name: str) -> None:
    make_view(con, name, query(name))


def _read_dialects(con: duckdb.DuckDBPyConnection) -> None:
    """Make `dialect_operations` and `dialect_messages`: what all dialects say.

    Each is shown its own spans alone, as `bucket_spans`; one that has none here is left out. One
    without marks is shown what those before it left.
    """
    _make(con, "names_sent")
    names = con.table("names_sent").to_arrow_table()["name"]
    put(con, "marked_names", marked_names(names, dialects()))
    put(con, "unknown_fields", unknown_fields(names.drop_null().to_pylist()))
    _make(con, "dialect_shapes", "dialect_events")
    by_event = _dialects_in(con, "dialect_events")
    marked = by_event | _dialects_in(con, "dialect_shapes")
    told = []
    make_table(con, "dialect_operations", _no_rows(OPERATIONS))
    for dialect in dialects():
        if dialect.marks and dialect.name not in marked:
            continue
        _show_spans(con, _own_spans(dialect, by_event=dialect.name in by_event))
        if not dialect.marks and not has_rows(con, "bucket_spans"):
            continue
        told.append(dialect)
        for part in (*dialect.parts, dialect.name):
            _make_part(con, part)
        run(con, f"INSERT INTO dialect_operations BY NAME {_said(dialect, OPERATIONS)}")
    _show_spans(con, "true")
    messages = [_no_rows(MESSAGES), *(_said(dialect, MESSAGES) for dialect in told)]
    make_view(con, "dialect_messages", " UNION ALL BY NAME ".join(messages))


def _make_part(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Make what a file of a dialect says: a plain query is the table of its name."""
    text = query(name)
    if "\nCREATE OR REPLACE " in text:
        run(con, text)
    else:
        make_relation(con, name, text)


def _dialects_in(con: duckdb.DuckDBPyConnection, relation: str) -> set[str]:
    return {name for (name,) in found(con, f"SELECT DISTINCT dialect FROM {relation}")}


def _own_spans(dialect: Dialect, *, by_event: bool) -> str:
    """Return the condition for the spans that a dialect is shown."""
    if not dialect.marks:
        return "key NOT IN (SELECT key FROM dialect_operations WHERE operation IS NOT NULL)"
    shapes = f"shape IN (SELECT shape FROM dialect_shapes WHERE dialect = '{dialect.name}')"
    keys = f"key IN (SELECT key FROM dialect_events WHERE dialect = '{dialect.name}')"
    return f"{shapes} OR {keys}" if by_event else shapes


def _show_spans(con: duckdb.DuckDBPyConnection, condition: str) -> None:
    make_view(con, "bucket_spans", f"SELECT * FROM all_spans WHERE {condition}")


def _said(dialect: Dialect, relation: Table) -> str:
    """Return the query for what one dialect says, with `dialect` and its `precedence`."""
    return (
        f"SELECT *, {dialect.rank} AS precedence, '{dialect.name}' AS dialect "
        f"FROM {dialect.name}_{relation.name}"
    )


def _no_rows(relation: Table) -> str:
    columns = ", ".join(f"NULL::{duckdb_type(c.type)} AS {c.name}" for c in relation.columns)
    return f"SELECT {columns}, 0 AS precedence, '' AS dialect WHERE false"


def _salvage(con: duckdb.DuckDBPyConnection, cut: str, salvaged: str, put_back: str) -> None:
    """Put the longest whole prefix in the place of each attribute that was cut."""
    if not has_rows(con, cut):
        make_table(con, salvaged, _SALVAGED_NOTHING.format(cut=cut))
        return
    texts = con.sql(f"SELECT DISTINCT text FROM {cut}").to_arrow_table()
    made = texts.append_column("prefix", whole_prefixes(texts.column(0)))
    with given(con, "whole_prefixes", made):
        make_table(con, salvaged, _SALVAGED.format(cut=cut))
    con.execute(put_back)


def _read_code(con: duckdb.DuckDBPyConnection) -> None:
    """Make `code_calls` (code, position, tool_name, arguments), and `code_names` (code, name)."""
    codes = con.sql("SELECT DISTINCT code FROM code_texts").to_arrow_table().column(0)
    put(con, "code_calls", code_calls(codes))
    put(con, "code_names", code_names(codes))


def _canonicalise(con: duckdb.DuckDBPyConnection) -> None:
    """Make `canonical` (text, canonical): the form of each text of arguments that is JSON.

    And `deep_texts` (text): those that are nested too deeply to be read.
    """
    found = con.table("argument_texts").to_arrow_table()
    made = found.append_column("canonical", canonical_texts(found["text"]))
    is_read = pc.field("canonical").is_valid()
    put(con, "canonical", made.filter(is_read))
    unread = made.filter(~is_read).drop_columns(["canonical"])
    deep = pa.array(map(is_too_deep, unread["text"].to_pylist()), pa.bool_())
    put(con, "deep_texts", unread.filter(deep))
