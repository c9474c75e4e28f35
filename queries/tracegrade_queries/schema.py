"""The tables that are built from raw spans: steps and trajectories, declared once.

They can be deleted and built again from `raw_spans` at any time. Rows are replaced by trace.
`verdicts` is the collector's, which takes them in.
"""

from typing import Final

import pyarrow as pa

from tracegrade_collector.lake import VERDICTS, Column, Table

__all__ = ["STEPS", "TRAJECTORIES", "VERDICTS"]

TEXT: Final = pa.string()
INTEGER: Final = pa.int32()
BIGINT: Final = pa.int64()
DOUBLE: Final = pa.float64()
BOOLEAN: Final = pa.bool_()
TIMESTAMP: Final = pa.timestamp("us")
TEXTS: Final = pa.list_(pa.field("element", TEXT))
USAGES: Final = pa.list_(
    pa.field(
        "element",
        pa.struct(
            [
                ("model", TEXT),  # NULL if not recorded
                ("calls", BIGINT),
                ("fresh_input_tokens", BIGINT),  # these five are NULL if in or out is not recorded
                ("cache_read_tokens", BIGINT),
                ("cache_write_tokens", BIGINT),
                ("visible_output_tokens", BIGINT),
                ("reasoning_tokens", BIGINT),
                ("stated_usd", DOUBLE),  # what the source says that they cost; NULL if it does not
            ]
        ),
    )
)

_DATE: Final = Column("date", pa.date32(), "Date the trace was first received, UTC. Partition.")

STEPS: Final = Table(
    name="steps",
    grain="one step of a trajectory",
    columns=(
        Column("trajectory_id", TEXT, "The run it belongs to."),
        Column(
            "step_index",
            INTEGER,
            "Dense from 0 in a trajectory: start of the producing model call, position in its "
            "output, execution start, span id. An observation stands right after its call.",
        ),
        Column("turn", INTEGER, "User messages that the model got since its first call; from 0."),
        Column(
            "kind", TEXT, "plan | thought | tool_call | observation | message | answer | handoff."
        ),
        Column("role", TEXT, "Who said it: assistant | tool | user; environment if no tool did."),
        Column("agent_name", TEXT, "Nearest named agent above the span; NULL if none is named."),
        Column("tool_name", TEXT, "Tool requested, also of plan, hand-off and observation steps."),
        Column("tool_call_id", TEXT, "Id that the model gave the call; NULL if not recorded."),
        Column(
            "arguments",
            TEXT,
            "Canonical JSON of a call; the raw text, flagged unparsed_arguments, if it is no "
            "JSON; NULL if not captured.",
        ),
        Column("result", TEXT, "What the tool returned; NULL if nothing was captured."),
        Column(
            "content",
            TEXT,
            "Thought, message or answer; of an observation what the model saw; else NULL.",
        ),
        Column("plan", TEXT, "JSON as declared; NULL except for plans."),
        Column("sub_goal", TEXT, "Sub-goal id on the span; NULL if none."),
        Column("decision", TEXT, "Decision id on the span; NULL if none."),
        Column("call_step", INTEGER, "Of an observation: its call's step_index; else NULL."),
        Column(
            "status",
            TEXT,
            "Of a call: ok | error | not_executed | unknown (neither executed nor answered, "
            "executions not recorded). NULL for other kinds.",
        ),
        Column(
            "status_source",
            TEXT,
            "span | text (the result says so) | response (the model got one, no execution was "
            "recorded) | request (nothing followed it). NULL where status is.",
        ),
        Column("error_type", TEXT, "Class of the error; NULL if none was recorded."),
        Column("error_message", TEXT, "Message of the error; NULL if none was recorded."),
        Column(
            "offered",
            BOOLEAN,
            "The tool was offered to the requesting model call, else to the run; NULL if what "
            "was offered is not known.",
        ),
        Column("effect", TEXT, "read | write | destructive, declared on the span; else NULL."),
        Column("cost", DOUBLE, "Declared on the span, in the declarer's unit; else NULL."),
        Column("model", TEXT, "Model that produced the step; NULL if no model call did."),
        Column("input_tokens", BIGINT, "On the first step of a model call, else NULL."),
        Column("output_tokens", BIGINT, "As input_tokens."),
        Column("cache_read_tokens", BIGINT, "As input_tokens."),
        Column("reasoning_tokens", BIGINT, "As input_tokens."),
        Column("start_time", TIMESTAMP, "Start of the span, UTC."),
        Column("end_time", TIMESTAMP, "End of the span, UTC."),
        Column("duration_ms", DOUBLE, "End less start of the span; may be negative as sent."),
        Column("trace_id", TEXT, "32 lower hex digits."),
        Column("span_id", TEXT, "Executing span, else the requesting one."),
        Column("request_span_id", TEXT, "Span of the producing model call; NULL if none."),
        Column("parent_span_id", TEXT, "Parent of span_id as sent; NULL at a root."),
        Column("dialect", TEXT, "Dialect that named the span."),
        Column("provenance", TEXT, "span (a span of its own) | derived (from messages)."),
        Column(
            "flags",
            TEXTS,
            "Sorted, empty if none: redacted, truncated (the arguments), result_redacted, "
            "result_truncated, unparsed_arguments, salvaged (of cut arguments or messages, what "
            "is whole), dropped_attributes (or events, by the exporter), "
            "synthetic_time (an imported source has none).",
        ),
        _DATE,
    ),
)

TRAJECTORIES: Final = Table(
    name="trajectories",
    grain="one run of an agent",
    columns=(
        Column("trajectory_id", TEXT, "Trace id, '-', root span id."),
        Column("parent_trajectory_id", TEXT, "Run whose tool call this is; NULL for a root."),
        Column(
            "parent_step",
            INTEGER,
            "step_index of that call in that run, -1 if it is no step there; NULL for a root, or "
            "if an earlier version built it.",
        ),
        Column("trace_id", TEXT, "32 lower hex digits."),
        Column("root_span_id", TEXT, "Outermost agent span; 16 zeros if there is none."),
        Column("agent_name", TEXT, "First named agent from the root down; NULL if none."),
        Column("service_name", TEXT, "`service.name`; NULL if not sent."),
        Column("release", TEXT, "`service.version`; NULL if not sent."),
        Column("environment", TEXT, "`deployment.environment.name`; NULL if not sent."),
        Column("conversation_id", TEXT, "Groups runs; NULL if not sent."),
        Column("task_id", TEXT, "Task declared on a span; NULL if none."),
        Column("task_category", TEXT, "As task_id."),
        Column("trial", INTEGER, "Trial declared on a span; NULL if none."),
        Column("run_mode", TEXT, "production | live | mocked, as declared; NULL if not."),
        Column(
            "user_input",
            TEXT,
            "What the user asked: as the agent's span tells, else the last text of the user that "
            "its first model call got; NULL if not captured.",
        ),
        Column("final_answer", TEXT, "Last answer; NULL if there is none."),
        Column("outcome", TEXT, "success | failure | invalid, as declared; NULL if not."),
        Column("outcome_source", TEXT, "trace where outcome is declared; else NULL."),
        Column("step_count", INTEGER, "Steps of every kind."),
        Column("tool_call_count", INTEGER, "Steps of kind tool_call."),
        Column("error_count", INTEGER, "Tool calls with status error or not_executed."),
        Column("llm_call_count", INTEGER, "Model calls, nested spans of one counted once."),
        Column("input_tokens", BIGINT, "Sum over model calls; NULL if none recorded them."),
        Column("output_tokens", BIGINT, "As input_tokens."),
        Column(
            "cost_usd",
            DOUBLE,
            "Sum over model calls, by the prices of the last run of `score`, else as the trace "
            "states; NULL if that of one call is not known, or there is none.",
        ),
        Column(
            "model_usage",
            USAGES,
            "What its model calls took, by model and by what was recorded of them, sorted; each "
            "token is in one count. NULL without model calls.",
        ),
        Column("start_time", TIMESTAMP, "Start of the root span, else of the first; UTC."),
        Column("end_time", TIMESTAMP, "End of the root span, else of the last; UTC."),
        Column("duration_ms", DOUBLE, "End less start."),
        Column("complete", BOOLEAN, "Its root arrived, and no span above that is missing."),
        Column(
            "offered_tools",
            TEXT,
            "JSON list of {name, description, parameters} in the order first offered, one for "
            "each name; NULL if nothing is known.",
        ),
        Column("dialects", TEXTS, "Dialects that named its spans, sorted."),
        Column("sample_weight", DOUBLE, "1 / sampling probability by `ot=th`; 1 if not sampled."),
        Column("root_failed", BOOLEAN, "Its root span's status is an error; NULL without a root."),
        Column(
            "finish_reasons",
            TEXT,
            "`gen_ai.response.finish_reasons` of the model call that made its last step; NULL if "
            "none was sent.",
        ),
        Column(
            "trace_records",
            BIGINT,
            "Spans and log records of its trace, with those of spans sent again when they ended; "
            "NULL if an earlier version built it.",
        ),
        Column(
            "trace_received_ns", BIGINT, "When the last of them was received, ns of the epoch."
        ),
        Column("imported", BOOLEAN, "All spans of its trace were imported, so that it is whole."),
        _DATE,
    ),
)
