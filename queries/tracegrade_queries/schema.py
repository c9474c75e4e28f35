"""The tables that are built from raw spans: steps, trajectories and agents, declared once.

They can be deleted and built again from `raw_spans` at any time. Rows are replaced by trace.
`built_traces` and `built_files` list the rows that builds have read, so that the next build can
skip them. `priced_dates` lists the dates with up-to-date costs. The collector writes `verdicts`.
"""

from typing import Final

import pyarrow as pa

from tracegrade_lake import Column, Struct, Table, list_of
from tracegrade_lake.columns import BIGINT, BOOLEAN, DOUBLE, INTEGER, MAP, TEXT, TEXTS, TIMESTAMP

STEPS_VERSION: Final = 6
"""Rises where the same spans make other rows; a lake is then built again."""

_USAGE: Final = Struct(
    "USAGE",
    "what the model calls of a run used, for one model and one set of recorded counts",
    (
        Column("model", TEXT, "Name of the model; NULL if not recorded."),
        Column("calls", BIGINT, "Model calls."),
        Column(
            "fresh_input_tokens",
            BIGINT,
            "Input tokens neither read from nor written to a cache; NULL if the calls do not "
            "record both input and output.",
        ),
        Column("cache_read_tokens", BIGINT, "Input tokens read from a cache; NULL as above."),
        Column("cache_write_tokens", BIGINT, "Input tokens written to a cache; NULL as above."),
        Column("visible_output_tokens", BIGINT, "Output tokens but reasoning; NULL as above."),
        Column("reasoning_tokens", BIGINT, "Output tokens of reasoning; NULL as above."),
        Column(
            "stated_usd",
            DOUBLE,
            "Cost in US dollars as the trace states it; NULL if it does not.",
        ),
    ),
)

_MODEL_CALL: Final = Struct(
    "MODEL_CALL",
    "start and end of one model call",
    (
        Column("start_time", TIMESTAMP, "Start of the first of its spans, UTC."),
        Column("end_time", TIMESTAMP, "End of its outermost span, UTC; NULL without an end."),
    ),
)

_DATE: Final = Column("date", pa.date32(), "Date the trace was first received, UTC.")

STEPS: Final = Table(
    name="steps",
    grain="one step of a trajectory",
    columns=(
        Column("trajectory_id", TEXT, "The run that the step belongs to."),
        Column(
            "step_index",
            INTEGER,
            "Position in the trajectory, counted from 0 without gaps. Steps are ordered by start "
            "of the model call that produced them, position in its output, start of the "
            "execution, and span id; an observation directly follows its call.",
        ),
        Column(
            "turn",
            INTEGER,
            "Number of user messages since the first model call: 0 until the user speaks again.",
        ),
        Column(
            "kind", TEXT, "plan | thought | tool_call | observation | message | answer | handoff."
        ),
        Column(
            "role",
            TEXT,
            "Role that made the step: assistant | tool | user | environment (an "
            "observation that came from no tool).",
        ),
        Column(
            "agent_name", TEXT, "Nearest named agent above the span; NULL if no agent is named."
        ),
        Column(
            "tool_name",
            TEXT,
            "Tool that was requested, also for plan, hand-off and observation steps; else NULL.",
        ),
        Column(
            "tool_call_id", TEXT, "Id that the model gave the call; NULL if it was not recorded."
        ),
        Column(
            "arguments",
            TEXT,
            "Arguments of a call as canonical JSON (sorted keys, 1.0 as 1); the text as sent, "
            "with the flag unparsed_arguments, if it is not JSON; {} for an empty text or null, "
            "and of a tool that takes none; else NULL if they were not captured.",
        ),
        Column("result", TEXT, "Result that the tool returned; NULL if it was not captured."),
        Column(
            "content",
            TEXT,
            "Text of a thought, message or answer; for an observation, what the model was given; "
            "else NULL.",
        ),
        Column("plan", TEXT, "The plan as declared, in JSON; NULL unless kind is plan."),
        Column("sub_goal", TEXT, "Sub-goal that the span names; NULL if it names none."),
        Column("decision", TEXT, "Decision point that the span names; NULL if it names none."),
        Column("call_step", INTEGER, "For an observation, the step_index of its call; else NULL."),
        Column(
            "status",
            TEXT,
            "For a call: ok | error | not_executed | interrupted (it waits for someone: "
            "an approval, an answer, a result) | unknown (neither an execution nor an "
            "answer was recorded); else NULL.",
        ),
        Column(
            "status_source",
            TEXT,
            "Evidence for the status: span | text (the result says that it is an error) | "
            "response (the model was given one, no execution was recorded) | request "
            "(nothing followed the request). NULL where status is NULL.",
        ),
        Column(
            "executed_by",
            TEXT,
            "provider, of a call that the model's provider ran itself (web search, code "
            "execution, its MCP servers); program, of a search or an operation on memory that the "
            "program made itself (`score --retrieval`); else NULL.",
        ),
        Column("error_type", TEXT, "Class of the error; NULL if none was recorded."),
        Column("error_message", TEXT, "Message of the error; NULL if none was recorded."),
        Column(
            "offered",
            BOOLEAN,
            "True if the tool was among those offered to the model call, or to the run where the "
            "call does not say; NULL if neither is known.",
        ),
        Column(
            "effect",
            TEXT,
            "read | write | destructive, as the span declares it; NULL if it does not.",
        ),
        Column("cost", DOUBLE, "Cost that the span declares, in a unit of its own; else NULL."),
        Column("model", TEXT, "Model that produced the step; NULL if no model call did."),
        Column(
            "input_tokens",
            BIGINT,
            "Input tokens of the model call, on its first step only; NULL elsewhere and if not "
            "recorded.",
        ),
        Column("output_tokens", BIGINT, "Output tokens of the model call, as input_tokens."),
        Column("cache_read_tokens", BIGINT, "Input tokens read from a cache, as input_tokens."),
        Column("reasoning_tokens", BIGINT, "Output tokens of reasoning, as input_tokens."),
        Column("start_time", TIMESTAMP, "Start of the span, UTC."),
        Column("end_time", TIMESTAMP, "End of the span, UTC; NULL if none was sent."),
        Column("duration_ms", DOUBLE, "End minus start, in milliseconds; NULL without an end."),
        Column("trace_id", TEXT, "Trace of the run, 32 lower-case hex digits."),
        Column("span_id", TEXT, "Span that executed the step, else the one that requested it."),
        Column("request_span_id", TEXT, "Span of the model call; NULL if no model call did it."),
        Column("parent_span_id", TEXT, "Parent of span_id as sent; NULL for a root."),
        Column("dialect", TEXT, "Dialect in which the span was read."),
        Column(
            "provenance",
            TEXT,
            "span (the step has a span of its own) | derived (read from messages).",
        ),
        Column(
            "flags",
            TEXTS,
            "Sorted; empty if none. redacted, truncated: the arguments were. "
            "result_redacted, result_truncated: the result was. invalid_unicode: U+FFFD "
            "replaces what is not Unicode in one of them. large_integer: digits represent "
            "an integer beyond 64 bits. unparsed_arguments: they are not JSON. "
            "unparsed_request: those that the model gave are not, these are the "
            "execution's. deep_arguments: they are nested too deeply to be read as JSON. "
            "salvaged: arguments or messages were cut, this is what is whole. "
            "dropped_attributes: the exporter dropped attributes or events. "
            "ambiguous_tokens: the source does not tell whether input_tokens has its "
            "cached part, which is taken to be in it. synthetic_time: the imported source "
            "has no times.",
        ),
        _DATE,
    ),
)

TRAJECTORIES: Final = Table(
    name="trajectories",
    grain="one run of an agent",
    columns=(
        Column("trajectory_id", TEXT, "Trace id, a hyphen, root span id."),
        Column(
            "parent_trajectory_id",
            TEXT,
            "Run that called this one as a tool; NULL if it is not a sub-agent's.",
        ),
        Column(
            "parent_step",
            INTEGER,
            "step_index of that call in the parent run, -1 if it is not a step there; NULL "
            "without a parent, or if an earlier version built the row.",
        ),
        Column("trace_id", TEXT, "Trace of the run, 32 lower-case hex digits."),
        Column(
            "root_span_id", TEXT, "Outermost span of the agent; 16 zeros if no span is an agent's."
        ),
        Column("agent_name", TEXT, "First named agent from the root down; NULL if none is named."),
        Column("service_name", TEXT, "`service.name`; NULL if not sent."),
        Column(
            "release",
            TEXT,
            "By the mapping file, else `service.version` or the next of the guide's list.",
        ),
        Column("environment", TEXT, "`deployment.environment.name`; NULL if not sent."),
        Column("conversation_id", TEXT, "Conversation that the run is part of; NULL if not sent."),
        Column(
            "task_id", TEXT, "Task that a span, or else its resource, declares; NULL if none does."
        ),
        Column("task_category", TEXT, "Category that a span declares; NULL if none does."),
        Column(
            "trial", INTEGER, "Number of the trial of its task, as declared; NULL if it is not."
        ),
        Column("run_mode", TEXT, "production | live | mocked, as declared; NULL if it is not."),
        Column(
            "user_input",
            TEXT,
            "The user's request: as the agent's span has it, else the last user text that "
            "the first model call was given; NULL if it was not captured.",
        ),
        Column("final_answer", TEXT, "The last answer; NULL if there is none."),
        Column("outcome", TEXT, "success | failure | invalid, as declared; NULL if it is not."),
        Column("outcome_source", TEXT, "trace where an outcome is declared; else NULL."),
        Column("step_count", INTEGER, "Steps of every kind."),
        Column("tool_call_count", INTEGER, "Steps of kind tool_call."),
        Column("error_count", INTEGER, "Tool calls with status error or not_executed."),
        Column("llm_call_count", INTEGER, "Model calls; spans nested around one call count once."),
        Column("input_tokens", BIGINT, "Sum over model calls; NULL if no call records them."),
        Column("output_tokens", BIGINT, "Sum over model calls; NULL if no call records them."),
        Column(
            "cost_usd",
            DOUBLE,
            "Cost of all model calls in US dollars: by the prices of the last scoring run, "
            "else as the trace states; NULL if the cost of one call is unknown, or without calls.",
        ),
        Column(
            "model_usage",
            list_of(_USAGE.type),
            "Usage of the model calls, sorted by model; each token is in one count. NULL "
            "without model calls.",
            _USAGE,
        ),
        Column("start_time", TIMESTAMP, "Start of the root span, else of the first span; UTC."),
        Column(
            "end_time",
            TIMESTAMP,
            "End of the root span, without one of the last span; UTC. NULL if it has no end.",
        ),
        Column("duration_ms", DOUBLE, "End minus start, in milliseconds; NULL without an end."),
        Column(
            "complete",
            BOOLEAN,
            "True if the run is over: its root span has ended, or tells an answer; without a "
            "root, no span of its process is missing above its own.",
        ),
        Column(
            "offered_tools",
            TEXT,
            "JSON list of {name, description, parameters}, each name once, in the order first "
            "offered; NULL if it is not known which tools were offered.",
        ),
        Column("dialects", TEXTS, "Dialects in which its spans were read, sorted."),
        Column(
            "sample_weight",
            DOUBLE,
            "1 / probability that the trace was sampled, from `ot=th` in the trace state; 1 if "
            "traces are not sampled.",
        ),
        Column(
            "root_failed", BOOLEAN, "True if the root span's status is error; NULL without a root."
        ),
        Column(
            "interrupted",
            BOOLEAN,
            "True if the run ended waiting for someone: an approval, an answer, a result; "
            "NULL if an earlier version built the row.",
        ),
        Column(
            "is_fragment",
            BOOLEAN,
            "True if it holds tools alone, or model calls alone that name, sum up or guard a "
            "conversation, without an agent or a task, and nothing is missing above them: part of "
            "a run that is elsewhere. NULL if an earlier version built the row.",
        ),
        Column(
            "finish_reasons",
            TEXT,
            "`gen_ai.response.finish_reasons` of the model call that produced the last step; NULL "
            "if none were sent.",
        ),
        Column(
            "trace_records",
            BIGINT,
            "Spans and log records of the trace when the row was built; a span that was sent at "
            "its start and again at its end counts twice. NULL if an earlier version built the "
            "row.",
        ),
        Column(
            "trace_received_ns",
            BIGINT,
            "Time at which the last of these records was received, nanoseconds since "
            "1970, UTC; NULL if an earlier version built the row.",
        ),
        Column(
            "imported",
            BOOLEAN,
            "True if every span of the trace was imported from a file, so that none can follow; "
            "NULL if an earlier version built the row.",
        ),
        Column(
            "kill_point",
            TEXT,
            "Why the run is not an attempt, as spans of the harness say (scope "
            "`tracegrade.harness`): early | mid | late | recovery where it was killed on "
            "purpose; several_runs where its agent sent it in addition to the run of its "
            "trial. NULL if it is an attempt.",
            former="injection",
        ),
        Column(
            "flags",
            TEXTS,
            "Sorted; empty if none, NULL if an earlier version built the row. "
            "unrecorded_answer: its last model call may have answered, and the trace does not "
            "hold what it said. unrecorded_calls: tool calls were made, or may have been, that "
            "the trace does not hold. limit_reached: its root ended in the error with which its "
            "framework enforces a limit on turns, steps, calls, tokens or time. "
            "unrecorded_thoughts: the trace cannot show what the agent thought or planned "
            "before its first call. dropped_attributes: the exporter dropped attributes "
            "or events of a span of the run. retrieval_steps: searches and operations on memory "
            "that the program made are calls (`score --retrieval`). retried: the party that ran "
            "the trial started it again after errors (`tracegrade.retries`). stopped_for_tools: "
            "no span is an agent's, and its last model call stopped to call tools, and the "
            "trace holds nothing about these. mixed_release: a source of the release in the "
            "mapping file has several values; that of the root counts. compacted: a span of "
            "the run says that the history was summarized (`gen_ai.conversation.compacted`). "
            "content_elsewhere: messages were uploaded, and spans hold references to them.",
        ),
        Column(
            "open_calls",
            TEXTS,
            "Ids, sorted, of the calls that it left open: it waits for their results, or, where "
            "no span is an agent's, its last model call requested them and nothing came. Empty "
            "if none, NULL if an earlier version built the row.",
        ),
        Column(
            "resumed_calls",
            TEXTS,
            "Ids, sorted, of the calls that a run before it requested: it began with their "
            "results, or by executing them. Empty if none, NULL if an earlier version built the "
            "row.",
        ),
        Column(
            "turn_count",
            INTEGER,
            "Turns of its conversation that it has: one more than the last `turn` of its steps, 1 "
            "without steps; NULL if an earlier version built the row.",
        ),
        Column(
            "labels",
            MAP,
            "Attributes that dimensions may be read from, sorted by name (see the guide on "
            "dimensions); NULL if an earlier version built the row.",
        ),
        Column(
            "dimensions",
            MAP,
            "Dimensions of the mapping file, sorted by name; NULL without a file.",
        ),
        _DATE,
    ),
)

AGENTS: Final = Table(
    name="agents",
    grain="one agent of a run with several: the run's own, one that it called, one inside it",
    columns=(
        Column("trajectory_id", TEXT, "The run whose steps include those of the agent."),
        Column(
            "agent_span_id",
            TEXT,
            "Outermost span of the agent, for the run's own its `root_span_id`; for an agent "
            "without a span, the first span that names it.",
        ),
        Column("has_span", BOOLEAN, "True if the agent has a span of its own."),
        Column("agent_name", TEXT, "Name of the agent; NULL if it is not named."),
        Column(
            "parent_trajectory_id",
            TEXT,
            "Run of the agent that started this one: by a call, by a hand-over, or as the nearest "
            "agent above its span. NULL for the agent of an outermost run.",
        ),
        Column("parent_agent_span_id", TEXT, "`agent_span_id` of that agent; NULL as above."),
        Column(
            "tool_call_id",
            TEXT,
            "Id of the call or hand-over that started it; NULL if neither did, or it has no id.",
        ),
        Column("start_time", TIMESTAMP, "Start of its span, else of its first operation; UTC."),
        Column(
            "end_time",
            TIMESTAMP,
            "End of its span, without one of its last operation; UTC. NULL if it has no end.",
        ),
        Column("duration_ms", DOUBLE, "End minus start, in milliseconds; NULL without an end."),
        Column("step_count", INTEGER, "Its steps of every kind, without those of other agents."),
        Column("step_indexes", list_of(INTEGER), "Their `step_index` in the run, sorted."),
        Column("tool_call_count", INTEGER, "Its steps of kind tool_call."),
        Column("error_count", INTEGER, "Its tool calls with status error or not_executed."),
        Column("llm_call_count", INTEGER, "Its model calls, as in `trajectories`."),
        Column("input_tokens", BIGINT, "Sum over its model calls; NULL if no call records them."),
        Column("output_tokens", BIGINT, "Sum over its model calls; NULL if no call records them."),
        Column("cost_usd", DOUBLE, "Cost of its model calls, as in `trajectories`."),
        Column(
            "model_usage",
            list_of(_USAGE.type),
            "Usage of its model calls, as in `trajectories`; NULL without model calls.",
            _USAGE,
        ),
        Column(
            "model_calls",
            list_of(_MODEL_CALL.type),
            "Start and end of each of its model calls, in their order.",
            _MODEL_CALL,
        ),
        Column("trace_id", TEXT, "Trace of the run, 32 lower-case hex digits."),
        _DATE,
    ),
)
"""A run of one agent that neither called another nor was called has no row: its row in
`trajectories` says the same."""

BUILT: Final = (STEPS, AGENTS, TRAJECTORIES)
"""The tables that a build writes from spans, in the order of its commits."""

BUILT_TRACES: Final = Table(
    name="built_traces",
    grain="one trace with rows that a build has seen, whether it has a trajectory or not",
    columns=(
        Column("trace_id", TEXT, "The trace."),
        Column(
            "first_ns",
            BIGINT,
            "Time at which the first of its spans and log records was received, "
            "nanoseconds since 1970, UTC.",
        ),
        Column("last_ns", BIGINT, "Time at which the last of them was received, as `first_ns`."),
        Column(
            "first_date",
            pa.date32(),
            "Date its first span was received, UTC, which is the `date` of its rows in `steps`, "
            "`agents` and `trajectories`; NULL as long as there are log records alone.",
        ),
        Column("date", pa.date32(), "Date the last of them was received, UTC."),
    ),
)
"""Dated by the last row of a trace, so that it expires with that and not before."""

BUILT_FILES: Final = Table(
    name="built_files",
    grain="one file of `raw_spans` or `raw_logs` whose rows are all built",
    columns=(
        Column("table_name", TEXT, "Table of the file: raw_spans | raw_logs."),
        Column("path", TEXT, "Path of the file inside the table's folder."),
    ),
    partition_by=(),
)

PRICED_DATES: Final = Table(
    name="priced_dates",
    grain="one date, status of costs and model, with the number of runs",
    columns=(
        Column("date", pa.date32(), "Date of the runs, as in `trajectories`."),
        Column(
            "status",
            TEXT,
            "priced | stated (those priced with a call whose cost is known from the trace alone) "
            "| no_price | no_tokens | not_counted; NULL for runs without model calls.",
        ),
        Column(
            "model",
            TEXT,
            "The model, for no_price and no_tokens; NULL if not recorded, and for other statuses.",
        ),
        Column("trajectories", BIGINT, "A run counts for each reason; 0 where status is NULL."),
        Column(
            "inputs_digest",
            TEXT,
            "Digest of the prices and of the files of the date.",
            former="made_from",
        ),
    ),
    partition_by=(),
)
