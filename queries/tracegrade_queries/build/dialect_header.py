"""Reads the header of a dialect's SQL file, and declares the two relations that it makes.

A dialect is one SQL file that makes two relations from `bucket_spans`, `<dialect>_operations` and
`<dialect>_messages`, with the columns below (those it leaves out are NULL). A long one reads what
files in a folder of its name make. The shared pass reads the union of all and knows no dialect.
"""

import re
from functools import cache
from typing import Final, NamedTuple

from tracegrade_lake import Column, Table
from tracegrade_lake.columns import BIGINT, BOOLEAN, DOUBLE, INTEGER, TEXT, TEXTS
from tracegrade_queries.engine.sql import QUERIES, Queries, header_lines
from tracegrade_queries.errors import BadDialect


class Dialect(NamedTuple):
    """What the header of a dialect's file declares."""

    name: str
    """That of the file."""

    rank: int
    """Where several dialects match one span, its fields are taken by rising rank."""

    marks: tuple[str, ...]
    """What its spans bear: RE2, one of them found in the name of their scope, of one of their
    attributes or of an event beside them. The dialect is shown no other spans. Without marks it
    is a last resort: it is shown the spans of which no dialect before it knows what they are."""


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
        Column("key", BIGINT, "Of the span in bucket_spans."),
        Column(
            "operation",
            TEXT,
            "agent | model | tool | handoff | plan | thought | observation | answer | evaluator "
            "(it and all below judge a run and are none) | other; NULL if not known.",
        ),
        Column("agent_name", TEXT, "Of the agent that the span is, or belongs to."),
        Column(
            "agent_label", TEXT, "What an agent span's name suggests; a stated name counts more."
        ),
        Column("follows", TEXT, "Agent after whose work that of an agent span began, in a team."),
        Column("tool_name", TEXT, "Of a tool span."),
        Column("call_id", TEXT, "Id that the model gave the call."),
        Column("arguments", TEXT, "JSON as sent, of a tool span."),
        Column("result", TEXT, "What the tool returned."),
        Column(
            "from_log",
            BOOLEAN,
            "The span of a tool stands for a reply in a log of messages, which may lack others.",
        ),
        Column("content", TEXT, "Text of a thought or an observation."),
        Column("plan", TEXT, "JSON, of a plan span; the text of a model span that only plans."),
        Column("user_input", TEXT, "First text of the user, of an agent or a model span."),
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
        Column("input_tokens", BIGINT, "Of a model span."),
        Column("output_tokens", BIGINT, "Of a model span."),
        Column("cache_read_tokens", BIGINT, "Of a model span."),
        Column("reasoning_tokens", BIGINT, "Of a model span."),
        Column("cache_write_tokens", BIGINT, "Of a model span."),
        Column("total_tokens", BIGINT, "Of a model span, as its source adds them up."),
        Column(
            "excludes_cached",
            BOOLEAN,
            "Whether cached tokens are not part of input_tokens; NULL if that is not known.",
        ),
        Column("stated_usd", DOUBLE, "What the source says that a model span cost."),
        Column("offered_tools", TEXT, "JSON list of tool definitions, in any known spelling."),
        Column("conversation_id", TEXT, "Groups runs."),
        Column("effect", TEXT, "read | write | destructive, declared."),
        Column("cost", DOUBLE, "Declared."),
        Column(
            "tells_calls",
            BOOLEAN,
            "An agent's span tells what all its model calls said; none has a span.",
        ),
        Column("linked_span_id", TEXT, "Of an observation: the tool span it observes."),
        Column("process_order", BIGINT, "Order of spans that start at one time in one process."),
        Column("sub_goal", TEXT, "Sub-goal that the span serves."),
        Column("decision", TEXT, "Decision point that the span belongs to."),
        Column("task_id", TEXT, "Task of the run."),
        Column("task_category", TEXT, "Its category."),
        Column("trial", INTEGER, "Number of the attempt."),
        Column("retries", INTEGER, "How often it was begun anew, after errors."),
        Column("run_mode", TEXT, "production | live | mocked."),
        Column("outcome", TEXT, "success | failure | invalid, as declared."),
        Column("kill_point", TEXT, "Why the run is no attempt: early | mid | late, …"),
        Column("flags", TEXTS, "As in the table steps."),
    ),
    partition_by=(),
)

MESSAGES: Final = Table(
    name="messages",
    grain="one part of a message that a span received or sent",
    columns=(
        Column("key", BIGINT, "Of the span in bucket_spans."),
        Column("direction", TEXT, "in | out."),
        Column("message_position", BIGINT, "Rises with the order of messages; may have gaps."),
        Column("part_position", BIGINT, "Rises with the order of parts in a message."),
        Column("role", TEXT, "As sent: system, user, assistant, tool, …"),
        Column(
            "part_type",
            TEXT,
            "text | reasoning | tool_call | tool_call_response | server_tool_call (the model's "
            "provider runs it; it may tell its result) | server_tool_call_response; else ignored.",
        ),
        Column("text", TEXT, "Of text and reasoning."),
        Column("tool_name", TEXT, "Of a tool call; of its response if sent."),
        Column("call_id", TEXT, "Of a tool call and its response; NULL if not sent."),
        Column("arguments", TEXT, "JSON, of a tool call."),
        Column("result", TEXT, "Of a response: what the model got to see."),
        Column(
            "failed", BOOLEAN, "Of a response: the source says beside it that the call failed."
        ),
    ),
    partition_by=(),
)
