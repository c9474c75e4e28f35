"""Reads the header of a dialect's SQL file, and declares the two relations that it makes.

A dialect is one SQL file that makes two relations from `bucket_spans`, `<dialect>_operations` and
`<dialect>_messages`. They have the columns below; a column that the file leaves out is NULL. A
long dialect also reads relations from files in a folder of its name. The shared pass reads the
union of all dialects, and has no code for a single one.
"""

import re
from functools import cache
from typing import Final, NamedTuple

from tracegrade_lake import Column, Table
from tracegrade_lake.columns import BIGINT, BOOLEAN, DOUBLE, INTEGER, TEXT, TEXTS
from tracegrade_queries.engine.sql import QUERIES, Queries, header_lines
from tracegrade_queries.errors import BadDialect


class Dialect(NamedTuple):
    """The declarations in the header of a dialect's file."""

    name: str
    """The name of the file, without its suffix."""

    rank: int
    """If several dialects match a span, each field comes from the lowest rank that has it."""

    marks: tuple[str, ...]
    """RE2 patterns. A dialect reads only spans that match one of them: in the name of the scope,
    of an attribute, or of an event of the span. A dialect without marks is a last resort: it reads
    the spans that no dialect before it recognizes."""


@cache
def dialects(queries: Queries = QUERIES) -> tuple[Dialect, ...]:
    """Return every dialect that has a file in the folder `dialects`, by rising rank.

    Raises:
        BadDialect: A header declares no rank, or one that another dialect has.
    """
    ranked: dict[int, Dialect] = {}
    for name in queries.in_folder("dialects"):
        dialect = _declared(name, queries.text(name))
        other = ranked.setdefault(dialect.rank, dialect)
        if other is not dialect:
            both = f"'{other.name}' and '{dialect.name}'"
            msg = f"dialects {both} have one rank, {dialect.rank}; give each its own"
            raise BadDialect(msg)
    return tuple(ranked[rank] for rank in sorted(ranked))


def _declared(name: str, text: str) -> Dialect:
    ranks = header_lines(text, "Rank")
    if len(ranks) != 1 or not re.fullmatch(r"\d+", ranks[0]):
        msg = f"dialect '{name}' has no rank; write a whole number under '-- Rank:' in its header"
        raise BadDialect(msg)
    return Dialect(name, int(ranks[0]), tuple(header_lines(text, "Marks")))


OPERATIONS: Final = Table(
    name="operations",
    grain="one span that the dialect recognizes",
    columns=(
        Column("key", BIGINT, "Key of the span in bucket_spans."),
        Column(
            "operation",
            TEXT,
            "agent | model | tool | handoff | plan | thought | observation | answer | evaluator "
            "(it judges a run, as all spans below it do) | other; NULL if not known.",
        ),
        Column("agent_name", TEXT, "Name of the agent that the span is, or belongs to."),
        Column(
            "agent_label",
            TEXT,
            "Name that an agent span's name suggests; a stated name counts more.",
        ),
        Column("follows", TEXT, "In a team, the agent that worked before this agent span."),
        Column("tool_name", TEXT, "Tool spans only."),
        Column("call_id", TEXT, "Id that the model gave the call."),
        Column("arguments", TEXT, "JSON as sent; tool spans only."),
        Column("result", TEXT, "The tool's result."),
        Column(
            "from_log",
            BOOLEAN,
            "The tool span was made from a reply in a message log, which may lack others.",
        ),
        Column("content", TEXT, "Text of a thought or an observation."),
        Column("plan", TEXT, "JSON of a plan span; text of a model span that only plans."),
        Column("user_input", TEXT, "First text of the user; agent and model spans only."),
        Column("answer", TEXT, "Last text of an agent or answer span."),
        Column("failed", BOOLEAN, "The operation ended in an error."),
        Column(
            "inherits_status",
            BOOLEAN,
            "The span's status says that another span of its trace failed.",
        ),
        Column("error_type", TEXT, "Class of the error."),
        Column("error_message", TEXT, "Its message."),
        Column("model", TEXT, "Model that answered, else the one asked for."),
        Column("input_tokens", BIGINT, "Model spans only."),
        Column("output_tokens", BIGINT, "Model spans only."),
        Column("cache_read_tokens", BIGINT, "Model spans only."),
        Column("reasoning_tokens", BIGINT, "Model spans only."),
        Column("cache_write_tokens", BIGINT, "Model spans only."),
        Column("total_tokens", BIGINT, "Model spans only; the sum that the source states."),
        Column(
            "excludes_cached",
            BOOLEAN,
            "Whether cached tokens are not part of input_tokens; NULL if that is not known.",
        ),
        Column("stated_usd", DOUBLE, "Cost of a model span that the source states."),
        Column("offered_tools", TEXT, "JSON list of tool definitions, in any known spelling."),
        Column("conversation_id", TEXT, "Groups runs."),
        Column("effect", TEXT, "read | write | destructive, declared."),
        Column("cost", DOUBLE, "Declared."),
        Column(
            "tells_calls",
            BOOLEAN,
            "The agent's span holds the output of all its model calls, which have no spans.",
        ),
        Column(
            "linked_span_id", TEXT, "Observations only: the tool span whose result the agent saw."
        ),
        Column(
            "process_order", BIGINT, "Order of spans that start at the same time in one process."
        ),
        Column("sub_goal", TEXT, "Sub-goal that the span serves."),
        Column("decision", TEXT, "Decision point that the span belongs to."),
        Column("task_id", TEXT, "Task of the run."),
        Column("task_category", TEXT, "Its category."),
        Column("trial", INTEGER, "Number of the attempt."),
        Column("retries", INTEGER, "Number of times the attempt was restarted after errors."),
        Column("run_mode", TEXT, "production | live | mocked."),
        Column("outcome", TEXT, "success | failure | invalid, as declared."),
        Column(
            "kill_point",
            TEXT,
            "Kill point of a killed run, which is not an attempt: early | mid | late, …",
        ),
        Column("flags", TEXTS, "As in the table steps."),
    ),
    partition_by=(),
)

MESSAGES: Final = Table(
    name="messages",
    grain="one part of a message that a span received or sent",
    columns=(
        Column("key", BIGINT, "Key of the span in bucket_spans."),
        Column("direction", TEXT, "in | out."),
        Column("message_position", BIGINT, "Rises with the order of messages; may have gaps."),
        Column("part_position", BIGINT, "Rises with the order of parts in a message."),
        Column("role", TEXT, "As sent: system, user, assistant, tool, …"),
        Column(
            "part_type",
            TEXT,
            "text | reasoning | tool_call | tool_call_response | server_tool_call (the model's "
            "provider runs it; it may hold its result) | server_tool_call_response; else ignored.",
        ),
        Column("text", TEXT, "Text and reasoning parts only."),
        Column("tool_name", TEXT, "Tool calls; responses too if it was sent."),
        Column("call_id", TEXT, "Tool calls and responses; NULL if not sent."),
        Column("arguments", TEXT, "JSON; tool calls only."),
        Column("result", TEXT, "Responses only: the text that the model received."),
        Column("failed", BOOLEAN, "Responses only: the source states that the call failed."),
    ),
    partition_by=(),
)
