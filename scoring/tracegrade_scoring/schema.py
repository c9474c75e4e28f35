"""The tables that scoring writes, declared once: name, type and meaning of each column.

All can be deleted and written again from steps and task files.
"""

from typing import Final

import pyarrow as pa

from tracegrade_lake import Column, Struct, Table
from tracegrade_lake.columns import BIGINT, BOOLEAN, DOUBLE, INTEGER, MAP, TEXT, TEXTS, list_of
from tracegrade_scoring.metric_definition import METRIC_EVIDENCE
from tracegrade_scoring.metrics import METRICS

EXACT: Final = pa.decimal128(38)
"""Sums of doubles in whole multiples of 2**-60."""

SCORER_VERSION: Final = "11"
"""Rises when a definition changes: every trajectory is then scored again."""

KILLED_RUN: Final = "killed_run"
"""Why a run that was killed on purpose has no score: it is not an attempt, and not counted."""
SEVERAL_RUNS: Final = "several_runs"
"""The same for a run that an agent sent in addition to the run of its trial."""

REASON_KINDS: Final = (
    *("person", "check", "crashed", "budget", "not_offered", "loop", "bad_arguments", "denied"),
    *("wrong_tool", "wrong_argument", "never_called", "not_expected", "lost_call", "cascade"),
    *("too_early", "drift", "skipped_goal", "unfinished_goal", "unsafe", "no_answer"),
    *("wrong_answer", "judge", "unexplained"),
)
"""Kinds of reasons in the order of precedence (docs/metrics.md, section 9.6)."""

_SCORE: Final = Struct(
    "SCORE",
    "one metric of one trajectory",
    (
        Column("value", DOUBLE, "The score; NULL unless status is scored."),
        Column("numerator", DOUBLE, "Numerator of value; NULL unless scored."),
        Column("denominator", DOUBLE, "Denominator of value; NULL unless scored."),
        Column(
            "status",
            TEXT,
            "scored | not_applicable (there was nothing to measure) | error (it could not be "
            "measured).",
        ),
        Column("label", TEXT, "Label that the metric gives with its value; mostly NULL."),
        Column("reason", TEXT, "Code of why it was not scored; NULL if it was."),
        Column("source", TEXT, "Source of the score; mostly NULL."),
    ),
)
SCORE: Final = _SCORE.type
"""One metric of one trajectory."""

_WRONG_ARGUMENT: Final = Struct(
    "WRONG_ARGUMENT",
    "one value in the arguments of a call that is not the expected one",
    (
        Column("argument", TEXT, "JSON path of the value, such as `$.city` or `$.items[0].id`."),
        Column("sent", TEXT, "JSON that was sent there; NULL if nothing was."),
        Column(
            "expected",
            TEXT,
            "JSON that the task expects there, or of the rule that it gives; NULL if it expects "
            "nothing.",
        ),
    ),
)

_TRAJECTORY: Final = Column(
    "trajectory_id",
    TEXT,
    "Root trajectory of the attempt; the steps of its sub-agents belong to it too.",
)
_TASK: Final = Column(
    "task_id", TEXT, "Task that the spans name, else the one that matches; NULL if unknown."
)
_RELEASE: Final = Column("release", TEXT, "As in `trajectories`; NULL if not sent.")
_AGENT: Final = Column("agent_name", TEXT, "Name of the agent; NULL if none is named.")
_RUN_MODE: Final = Column("run_mode", TEXT, "production | live | mocked; NULL if not declared.")
_METRIC: Final = Column(
    "metric", TEXT, "Name of the metric: a column of trajectory_scores, or one in custom_scores."
)
_SCORED: Final = Column("scored", BIGINT, "Number of trajectories that were scored.")
_NOT_APPLICABLE: Final = Column("not_applicable", BIGINT, "Number with nothing to measure.")
_ERROR: Final = Column("error", BIGINT, "Number of trajectories that could not be measured.")
_DATE: Final = Column("date", pa.date32(), "Date the trace was first received, UTC.")

TRAJECTORY_SCORES: Final = Table(
    name="trajectory_scores",
    grain="one trajectory with all its metrics, each in a column of type SCORE",
    columns=(
        Column("trajectory_id", TEXT, "The trajectory, also one of a sub-agent."),
        _TASK,
        _RELEASE,
        _AGENT,
        _RUN_MODE,
        Column(
            "task_category",
            TEXT,
            "Category of the task in its file, else as the trace declares it; NULL if unknown.",
        ),
        Column(
            "sample_weight",
            DOUBLE,
            "1 / probability that the trace was sampled; at least 1.",
        ),
        Column("scorer_version", TEXT, "Version of the metrics' definitions."),
        Column(
            "task_hash",
            TEXT,
            "Hash of the task and the tools it was scored against; NULL without a task file.",
        ),
        Column(
            "specification_hash",
            TEXT,
            "Hash of everything it was scored against; NULL for a sub-agent's run, for which its "
            "parent's stands.",
        ),
        Column(
            "input_hash", TEXT, "Hash that changes when spans or verdicts of the trace are added."
        ),
        *(Column(name, SCORE, metric.definition, _SCORE) for name, metric in METRICS.items()),
        Column("dimensions", MAP, "As in `trajectories`; NULL without a mapping file."),
        _DATE,
    ),
)

CUSTOM_SCORES: Final = Table(
    name="custom_scores",
    grain="one metric of a user's own of one trajectory",
    columns=(
        Column("trajectory_id", TEXT, "The trajectory, also one of a sub-agent."),
        Column("metric", TEXT, "Name of the metric: one in metric_definitions."),
        Column("score", SCORE, "As a column of trajectory_scores has it.", _SCORE),
        Column("metric_hash", TEXT, "Hash of its definition; NULL if it is not trusted to run."),
        Column(
            "evidence",
            list_of(METRIC_EVIDENCE.type),
            "Steps that the metric names, at most 20; NULL if none.",
            METRIC_EVIDENCE,
        ),
        _DATE,
    ),
)

DECISIONS: Final = Table(
    name="decisions",
    grain="one decision point of an attempt, made or missed",
    columns=(
        _TRAJECTORY,
        Column(
            "decision_index",
            INTEGER,
            "Position among the attempt's decision points, in the order of calls, from 0 without "
            "gaps.",
        ),
        Column(
            "decision", TEXT, "Name of it in the task file, else on the span; NULL if it has none."
        ),
        Column("picked_tool", TEXT, "Tool of the first call; NULL if no call was made."),
        Column(
            "expected_tool",
            TEXT,
            "Tool that the task expects; NULL if it expects none here, or any tool with an "
            "effect.",
        ),
        Column(
            "correct",
            BOOLEAN,
            "Whether the first call was right; NULL if it is not counted or cannot be known.",
        ),
        Column(
            "failed_criteria",
            TEXTS,
            "Criteria that the first call failed: a (tool), b (arguments), c (a better tool was "
            "offered); empty if none.",
        ),
        Column(
            "step_trajectory_id",
            TEXT,
            "Trajectory of the agent that made the first call: the attempt's own or a "
            "sub-agent's; NULL if no call was made.",
        ),
        Column(
            "step_index",
            INTEGER,
            "Step of the first call in that trajectory; NULL if no call was made.",
        ),
        Column("span_id", TEXT, "Span of the first call; NULL if no call was made."),
        Column(
            "wrong_arguments",
            list_of(_WRONG_ARGUMENT.type),
            "Differences of its arguments from what the task expects, by JSON path; objects and "
            "lists value by value. Empty if none; at most 50, each up to 500 characters.",
            _WRONG_ARGUMENT,
        ),
        Column("reason", TEXT, "Why it is wrong, unknown or not counted; NULL if correct."),
        Column("missed", BOOLEAN, "True if the task expects a call here and none was made."),
        Column("counted", BOOLEAN, "True if it is in the denominator of tsa."),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

SUB_GOALS: Final = Table(
    name="sub_goals",
    grain="one sub-goal of an attempt's task, in the variant of its plan that is scored",
    columns=(
        _TRAJECTORY,
        Column("sub_goal", TEXT, "Its name in the task file."),
        Column("critical", BOOLEAN, "True if the task cannot succeed without it."),
        Column("weight", DOUBLE, "Its weight in weighted metrics; greater than 0."),
        Column("attempted", BOOLEAN, "True if at least one call served it; NULL if unknown."),
        Column(
            "completed",
            BOOLEAN,
            "True if it was attempted and its criterion held at the end; NULL if unknown.",
        ),
        Column(
            "ever_completed",
            BOOLEAN,
            "True if it was attempted and its criterion held then or later; NULL if unknown.",
        ),
        Column(
            "regressed",
            BOOLEAN,
            "True if it was once completed, but not at the end; NULL if unknown.",
        ),
        Column(
            "deps",
            TEXTS,
            "Sub-goals to complete directly before it, sorted; empty if none. NULL, as the next "
            "three, where a graph of the task has a fault.",
        ),
        Column(
            "deps_met",
            BOOLEAN,
            "True if each direct prerequisite was completed, or held from the start to the end; "
            "also if it has none.",
        ),
        Column(
            "all_deps_met",
            BOOLEAN,
            "As deps_met, of all its prerequisites.",
        ),
        Column(
            "dependency_violation",
            BOOLEAN,
            "True if it was first completed before a direct prerequisite was.",
        ),
        Column(
            "attribution",
            TEXT,
            "Way in which calls were assigned to it: span (the span names it) | rule (the "
            "task file) | verdict (that left one of several) | ambiguous (all its calls "
            "serve others too); NULL if not attempted.",
        ),
        Column(
            "completion_source",
            TEXT,
            "Source that decides on completion: rule (its criterion) | status (of a call "
            "that serves it) | judge (a verdict).",
        ),
        Column(
            "verdicts_disagree",
            BOOLEAN,
            "True if a verdict decides on completion, and others of its rank said otherwise.",
        ),
        Column(
            "first_completed",
            INTEGER,
            "Index of the call after which it was first completed, from 0; the number of calls if "
            "only at the end; NULL if never or unknown.",
        ),
        Column("pre_satisfied", BOOLEAN, "True if its criterion held before the first call."),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

_STEP_TRAJECTORY: Final = Column(
    "step_trajectory_id",
    TEXT,
    "Trajectory of the step: the attempt's own or a sub-agent's; NULL without a step.",
)
_CALL: Final = (
    Column(
        "step_trajectory_id",
        TEXT,
        "Trajectory of the agent that made the call: the attempt's own or a sub-agent's.",
    ),
    Column("step_index", INTEGER, "Step of the call in that trajectory."),
    Column("span_id", TEXT, "Span of that step."),
)

FAILURES: Final = Table(
    name="failures",
    grain="one failure mode that an attempt shows; a failed attempt that shows none has one row "
    "with mode unclassified",
    columns=(
        _TRAJECTORY,
        Column(
            "mode",
            TEXT,
            "loop_trap | tool_hallucination | premature_commitment | cascading_error | goal_drift "
            "| unclassified.",
        ),
        _STEP_TRAJECTORY,
        Column(
            "step_index",
            INTEGER,
            "First step that shows the mode, in that trajectory; NULL without a step.",
        ),
        Column("span_id", TEXT, "Span of that step; NULL without a step."),
        Column("source", TEXT, "static (from the trace alone) | judge."),
        Column("detail", TEXT, "Description of what the step shows; NULL if unclassified."),
        Column("success", BOOLEAN, "Whether the attempt succeeded; NULL if unknown."),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

FAILED_CALLS: Final = Table(
    name="failed_calls",
    grain="one failed call of an attempt, and its outcome",
    columns=(
        _TRAJECTORY,
        *_CALL,
        Column("tool_name", TEXT, "Tool that was called; NULL if the trace does not say."),
        Column(
            "failed_by",
            TEXT,
            "Evidence that it failed: status | result | error_pattern (of the task file).",
        ),
        Column(
            "outcome",
            TEXT,
            "recovered (reached in another way) | retried (the same call succeeded later) | lost; "
            "NULL if arguments that were not captured, or calls that were not recorded decide it.",
        ),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

AMBIGUOUS_CALLS: Final = Table(
    name="ambiguous_calls",
    grain="one call of an attempt that the rules of its task give to several sub-goals, and which "
    "of these it serves",
    columns=(
        _TRAJECTORY,
        *_CALL,
        Column("tool_name", TEXT, "Tool that was called."),
        Column("candidates", TEXTS, "The sub-goals, two or more, in the order of the task file."),
        Column(
            "served",
            TEXTS,
            "Candidates that verdicts left, in the same order; all without verdicts.",
        ),
        Column(
            "decided_by",
            TEXT,
            "Rank of verdicts that took some away last: verifier | evaluation | judge; else rule.",
        ),
        Column(
            "verdicts_disagree", BOOLEAN, "True if verdicts of one rank differ on one of them."
        ),
        _TASK,
        _RELEASE,
        _AGENT,
        _DATE,
    ),
)

RUN_REASONS: Final = Table(
    name="run_reasons",
    grain="one thing that went wrong in an attempt, the most telling first; each failed attempt "
    "has at least one row",
    columns=(
        _TRAJECTORY,
        Column("rank_in_run", INTEGER, "Its place among those of the attempt, from 1."),
        Column(
            "kind",
            TEXT,
            "Kind of the reason: " + " | ".join(REASON_KINDS) + ", in this order; "
            "unexplained if nothing is known.",
        ),
        Column(
            "object",
            TEXT,
            "Object of the reason, without values: a tool, an argument of a tool, a "
            "sub-goal, a check; NULL if nothing in particular.",
        ),
        Column("sentence", TEXT, "Says what went wrong, on one line of at most 120 characters."),
        _STEP_TRAJECTORY,
        Column(
            "step_index",
            INTEGER,
            "Step that shows it, in that trajectory; NULL without a step.",
        ),
        Column("span_id", TEXT, "Span of that step; NULL without a step."),
        Column(
            "source",
            TEXT,
            "Source of the reason: static (from the trace and the task alone) | judge | "
            "the source of a verdict.",
        ),
        Column(
            "key",
            TEXT,
            "12 hex digits, equal for equal agent_name, kind and object, across releases, "
            "tasks and runs.",
        ),
        Column("success", BOOLEAN, "Whether the attempt succeeded; NULL if unknown."),
        _TASK,
        _RELEASE,
        _AGENT,
        _DATE,
    ),
)

RELEASE_SCORES: Final = Table(
    name="release_scores",
    grain="one metric of a release, agent, run mode and task category",
    columns=(
        _RELEASE,
        _AGENT,
        _RUN_MODE,
        Column("task_category", TEXT, "Category of the tasks; '' for all tasks together."),
        _METRIC,
        Column("value", DOUBLE, "numerator / denominator; NULL if nothing was scored."),
        Column(
            "numerator",
            DOUBLE,
            "Sum over scored trajectories, by sample weight; for pq and ra metrics, the sum of "
            "the tasks' means.",
        ),
        Column(
            "denominator",
            DOUBLE,
            "Sum over scored trajectories, by sample weight; for pq and ra metrics, the number of "
            "tasks.",
        ),
        Column("low", DOUBLE, "Lower end of the 95 % interval of value; NULL without one."),
        Column("high", DOUBLE, "Upper end of the 95 % interval of value; NULL without one."),
        Column("interval_method", TEXT, "wilson | bootstrap; NULL without an interval."),
        _SCORED,
        _NOT_APPLICABLE,
        _ERROR,
        Column("trajectories", BIGINT, "scored + not_applicable + error."),
        Column(
            "flags",
            TEXTS,
            "insufficient_sample (fewer than 50 decision points or 10 tasks), few_tasks (too few "
            "for an interval); empty if none.",
        ),
        Column("mean", DOUBLE, "Mean of the trajectories' values, by sample weight."),
        Column("tasks", BIGINT, "Number of different tasks among the scored trajectories."),
    ),
    partition_by=(),
)

SCORE_SUMS: Final = Table(
    name="score_sums",
    grain="one metric, added up over the trajectories of a release, agent, run mode, task "
    "category and task",
    columns=(
        _RELEASE,
        _AGENT,
        _RUN_MODE,
        Column("task_category", TEXT, "Category of the task; '' if unknown."),
        Column("task_id", TEXT, "The task; NULL for trajectories without a known task."),
        _METRIC,
        _SCORED,
        _NOT_APPLICABLE,
        _ERROR,
        Column(
            "not_single",
            BIGINT,
            "Number of scored trajectories that are not a single observation of weight 1.",
        ),
        Column("numerator", EXACT, "Sum of numerators, by sample weight, in units of 2^-60."),
        Column("denominator", EXACT, "Sum of denominators, by sample weight, in units of 2^-60."),
        Column("value_sum", EXACT, "Sum of values, by sample weight, in units of 2^-60."),
        Column("weight", EXACT, "Sum of the scored trajectories' weights, in units of 2^-60."),
        Column("observations", EXACT, "Sum of denominators, unweighted, in units of 2^-60."),
    ),
    partition_by=(),
)

SCORE_TABLES: Final = (
    *(TRAJECTORY_SCORES, CUSTOM_SCORES, DECISIONS, SUB_GOALS, FAILURES, FAILED_CALLS),
    *(AMBIGUOUS_CALLS, RUN_REASONS, RELEASE_SCORES, SCORE_SUMS),
)
