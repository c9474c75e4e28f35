"""The tables that scoring writes, declared once: name, type and meaning of each column.

All can be deleted and written again from steps and task files.
"""

from typing import Final

import pyarrow as pa

from tracegrade_collector.lake import Column, Table
from tracegrade_scoring.metrics import METRICS

TEXT: Final = pa.string()
TEXTS: Final = pa.list_(pa.field("element", TEXT))
DOUBLE: Final = pa.float64()
BOOLEAN: Final = pa.bool_()
INTEGER: Final = pa.int32()
BIGINT: Final = pa.int64()
EXACT: Final = pa.decimal128(38)
"""Sums of doubles in whole multiples of 2**-60."""

SCORER_VERSION: Final = "4"
"""Rises when a definition changes: every trajectory is then scored again."""

SCORE: Final = pa.struct(
    [
        ("value", DOUBLE),
        ("numerator", DOUBLE),
        ("denominator", DOUBLE),
        ("status", TEXT),
        ("label", TEXT),
        ("reason", TEXT),
        ("source", TEXT),
    ]
)
"""One metric of one trajectory. Status: scored | not_applicable | error."""

_TRAJECTORY: Final = Column("trajectory_id", TEXT, "The trajectory.")
_TASK: Final = Column("task_id", TEXT, "From the spans, else by match; NULL if not known.")
_RELEASE: Final = Column("release", TEXT, "`service.version`; NULL if not sent.")
_RUN_MODE: Final = Column("run_mode", TEXT, "production | live | mocked; NULL if not said.")
_DATE: Final = Column("date", pa.date32(), "Date the trace was first received, UTC. Partition.")

TRAJECTORY_SCORES: Final = Table(
    name="trajectory_scores",
    grain="one trajectory with all its metrics",
    columns=(
        _TRAJECTORY,
        _TASK,
        _RELEASE,
        Column("agent_name", TEXT, "NULL if none is named."),
        _RUN_MODE,
        Column("task_category", TEXT, "The task file's, else the trace's; NULL if neither says."),
        Column("sample_weight", DOUBLE, "1 / probability of being sampled; at least 1."),
        Column("scorer_version", TEXT, "Version of the definitions."),
        Column("task_hash", TEXT, "Hash of the task and tools scored against; NULL without one."),
        Column("specification_hash", TEXT, "Hash of all it was held against; NULL: its parent's."),
        Column("input_hash", TEXT, "Changes when the trace's spans or verdicts do."),
        *(Column(name, SCORE, meaning) for name, meaning in METRICS.items()),
        _DATE,
    ),
)

DECISIONS: Final = Table(
    name="decisions",
    grain="one decision point of an attempt, made or missed",
    columns=(
        _TRAJECTORY,
        Column("decision_index", INTEGER, "Dense from 0, in the order of calls."),
        Column("decision", TEXT, "The task's name for it, else the span's; NULL if neither."),
        Column("picked_tool", TEXT, "First pick; NULL where missed."),
        Column("expected_tool", TEXT, "NULL if none is expected, or any of an effect."),
        Column("correct", BOOLEAN, "NULL if not counted, or if it cannot be known."),
        Column("failed_criteria", TEXTS, "Of a (tool), b (arguments), c (a better one existed)."),
        Column("step_index", INTEGER, "Of the first call; NULL where missed."),
        Column("span_id", TEXT, "Of the first call; NULL where missed."),
        Column("reason", TEXT, "Why it is wrong, unknown or not counted; NULL if correct."),
        Column("missed", BOOLEAN, "Expected, but no call was made for it."),
        Column("counted", BOOLEAN, "It is in the denominator of tsa."),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

SUB_GOALS: Final = Table(
    name="sub_goals",
    grain="one sub-goal of an attempt's task, in the chosen variant",
    columns=(
        _TRAJECTORY,
        Column("sub_goal", TEXT, "Its name in the task file."),
        Column("critical", BOOLEAN, "The task cannot succeed without it."),
        Column("weight", DOUBLE, "Greater than 0."),
        Column("attempted", BOOLEAN, "An action served it; NULL if unknown."),
        Column("completed", BOOLEAN, "Attempted and held at the end; NULL if unknown."),
        Column("ever_completed", BOOLEAN, "Held after some step; NULL if unknown."),
        Column("regressed", BOOLEAN, "Ever completed, not at the end; NULL if unknown."),
        Column("deps", TEXTS, "Its direct prerequisites, sorted; empty if it has none."),
        Column("deps_met", BOOLEAN, "Its direct prerequisites were completed."),
        Column("all_deps_met", BOOLEAN, "All its prerequisites were completed."),
        Column("dependency_violation", BOOLEAN, "First completed before a prerequisite was."),
        Column("attribution", TEXT, "span | rule | ambiguous; NULL if not attempted."),
        Column("completion_source", TEXT, "rule | status | judge: what completion goes by."),
        Column("first_completed", INTEGER, "Call that first completed it, from 0; NULL if none."),
        Column("pre_satisfied", BOOLEAN, "Its criterion held before the first call."),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

FAILURES: Final = Table(
    name="failures",
    grain="one failure mode that an attempt shows; a failed one that shows none is unclassified",
    columns=(
        _TRAJECTORY,
        Column("mode", TEXT, "Name of the mode, as its metric's, or unclassified."),
        Column("step_trajectory_id", TEXT, "Whose step it is: the root or a sub-agent."),
        Column("step_index", INTEGER, "The first step that shows it, in that trajectory."),
        Column("span_id", TEXT, "Of that step."),
        Column("source", TEXT, "static | judge."),
        Column("detail", TEXT, "What it shows; NULL if unclassified."),
        Column("success", BOOLEAN, "Whether the attempt succeeded; NULL if not known."),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

FAILED_CALLS: Final = Table(
    name="failed_calls",
    grain="one failed call of an attempt, and what became of it",
    columns=(
        _TRAJECTORY,
        Column("step_trajectory_id", TEXT, "Who made it: the root or a sub-agent."),
        Column("step_index", INTEGER, "In that trajectory."),
        Column("span_id", TEXT, "Of that step."),
        Column("tool_name", TEXT, "NULL if the trace does not say."),
        Column("failed_by", TEXT, "What says so: status | result | error_pattern."),
        Column("outcome", TEXT, "recovered | retried | lost; NULL if it cannot be known."),
        _TASK,
        _RELEASE,
        _DATE,
    ),
)

RELEASE_SCORES: Final = Table(
    name="release_scores",
    grain="one metric of a release, agent, run mode and task category",
    columns=(
        _RELEASE,
        Column("agent_name", TEXT, "NULL if none is named."),
        _RUN_MODE,
        Column("task_category", TEXT, "'' for all tasks together."),
        Column("metric", TEXT, "Its name in trajectory_scores."),
        Column("value", DOUBLE, "numerator / denominator; NULL if none was scored."),
        Column("numerator", DOUBLE, "Over scored trajectories; of pq and ra: of tasks' means."),
        Column("denominator", DOUBLE, "Over scored trajectories; of pq and ra: tasks."),
        Column("low", DOUBLE, "Lower end of the interval; NULL without one."),
        Column("high", DOUBLE, "Upper end of the interval; NULL without one."),
        Column("interval_method", TEXT, "wilson | bootstrap; NULL without one."),
        Column("scored", BIGINT, "Trajectories scored."),
        Column("not_applicable", BIGINT, "Trajectories with nothing to measure."),
        Column("error", BIGINT, "Trajectories that could not be measured."),
        Column("trajectories", BIGINT, "All three together."),
        Column("flags", TEXTS, "insufficient_sample, few_tasks; empty if none."),
        Column("mean", DOUBLE, "Macro: mean of the trajectories' values, by sample weight."),
        Column("tasks", BIGINT, "Distinct tasks among the scored trajectories."),
    ),
    partition_by=(),
)

SCORE_SUMS: Final = Table(
    name="score_sums",
    grain="the scores of one metric, added up for a cohort, task category and task",
    columns=(
        _RELEASE,
        Column("agent_name", TEXT, "NULL if none is named."),
        _RUN_MODE,
        Column("task_category", TEXT, "'' if not known."),
        Column("task_id", TEXT, "NULL for runs without a known task."),
        Column("metric", TEXT, "Its name in trajectory_scores."),
        Column("scored", BIGINT, "Trajectories scored."),
        Column("not_applicable", BIGINT, "Trajectories with nothing to measure."),
        Column("error", BIGINT, "Trajectories that could not be measured."),
        Column("not_single", BIGINT, "Those scored that are not one observation of weight 1."),
        Column("numerator", EXACT, "By sample weight."),
        Column("denominator", EXACT, "By sample weight."),
        Column("value_sum", EXACT, "Of values, by sample weight."),
        Column("weight", EXACT, "Of the weights of those scored."),
        Column("observations", EXACT, "Of denominators, without weights."),
    ),
    partition_by=(),
)

SCORE_TABLES: Final = (
    TRAJECTORY_SCORES,
    DECISIONS,
    SUB_GOALS,
    FAILURES,
    FAILED_CALLS,
    RELEASE_SCORES,
    SCORE_SUMS,
)
