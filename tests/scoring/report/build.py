"""A scored lake in DuckDB tables, filled run by run; and a sample of two releases."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
from tests.scoring.build import arrow

from tracegrade_lake import RAW_LOGS, RAW_SPANS, VERDICTS, Lake
from tracegrade_queries.engine.connection import COUNTED
from tracegrade_queries.engine.sql import unordered
from tracegrade_queries.engine.table_views import view_sql
from tracegrade_queries.schema import AGENTS, STEPS, TRAJECTORIES
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.report.texts import render_markdown, render_terminal
from tracegrade_scoring.schema import SCORE, SCORE_TABLES
from tracegrade_scoring.sql import query

TABLES = (
    *(RAW_LOGS, RAW_SPANS, STEPS, TRAJECTORIES, AGENTS, VERDICTS),
    *SCORE_TABLES,
    METRIC_DEFINITIONS,
)
START = datetime(2026, 11, 1, 9)  # noqa: DTZ001 - the lake's times are UTC without saying so


@dataclass
class Tables:
    """The tables that a report reads; ids count from 1, the clock ticks a minute per run.

    Rows are written together when the tables are read, which costs a tenth of one by one.
    """

    tables: duckdb.DuckDBPyConnection = field(
        default_factory=lambda: duckdb.connect(config={"threads": 1})  # tables are small
    )
    runs: int = 0
    waiting: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows to write, by table."""
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is known of each run."""
    scores: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rows of scores that are still to be written, by run."""

    def __post_init__(self) -> None:
        for table in TABLES:
            self.tables.execute(view_sql(table, None).replace("CREATE VIEW", "CREATE TABLE", 1))
        self.tables.execute(f"CREATE VIEW {COUNTED} AS {unordered(COUNTED)}")
        for view in SCORES.views:
            self.tables.execute(f"CREATE VIEW {view} AS {query(view)}")

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection, with all rows written."""
        for name, rows in self.waiting.items():
            (table,) = (table for table in TABLES if table.name == name)
            self.tables.register("_rows", arrow(table, rows))
            self.tables.execute(f"INSERT INTO {name} BY NAME FROM _rows")
            self.tables.unregister("_rows")
        self.waiting.clear()
        self.scores.clear()
        return self.tables

    def close(self) -> None:
        """Free the tables."""
        self.tables.close()

    def insert(self, table: str, **row: Any) -> None:
        """Insert one row; columns that are not given are NULL, but every trace has its date."""
        if table != "release_scores":
            row = {"date": START.date(), **row}
        self.waiting.setdefault(table, []).append(row)

    def run(self, release: str | None = "1.0", agent: str | None = "files", **facts: Any) -> str:
        """Insert one run and return its id."""
        self.runs += 1
        trajectory_id = f"t{self.runs}"
        row: dict[str, Any] = {
            "trajectory_id": trajectory_id,
            "release": release,
            "agent_name": agent,
            "complete": True,
            "tool_call_count": 0,
            "error_count": 0,
            "start_time": START + timedelta(minutes=self.runs),
        }
        self.facts[trajectory_id] = {**row, **facts}
        self.insert("trajectories", **self.facts[trajectory_id])
        self.insert(
            "raw_spans", span_id=trajectory_id, collector_id="made", wal_seq=self.runs,
            received_ns=self.runs, resent=False,
        )  # fmt: skip
        return trajectory_id

    def scored(self, run: str, task: str | None) -> None:
        """Note that a scoring run has read a run."""
        known = {name: self.facts[run].get(name) for name in ("release", "agent_name", "run_mode")}
        given = {"date": self.facts[run].get("date", START.date()), "sample_weight": 1.0}
        self.insert("trajectory_scores", trajectory_id=run, task_id=task, **known, **given)
        self.scores[run] = self.waiting["trajectory_scores"][-1]

    def score(self, run: str, metric: str, value: float | None, **facts: Any) -> None:
        """Set one score of a run noted as scored; without a value it is not applicable."""
        given = {
            "value": value,
            "status": "not_applicable" if value is None else "scored",
            **facts,
        }
        score = {name: given.get(name) for name in SCORE.names}
        if run in self.scores:
            self.scores[run][metric] = score
            return
        self.con.execute(
            f"UPDATE trajectory_scores SET {metric} = $score WHERE trajectory_id = $run",
            {"run": run, "score": score},
        )

    def release(self, metric: str, value: float | None, **facts: Any) -> None:
        """Insert one aggregated score."""
        row: dict[str, Any] = {
            "release": "1.0",
            "agent_name": "files",
            "task_category": "",
            "metric": metric,
            "value": value,
            "scored": 0 if value is None else 1,
            "not_applicable": 1 if value is None else 0,
            "error": 0,
            "trajectories": 1,
            "flags": [],
        }
        self.insert("release_scores", **{**row, **facts})

    def report(self, lake: str = "lake") -> Report:
        """Return the report of what has been inserted."""
        return read_report(self.con, lake)


def as_text(report: Report) -> str:
    """Return the report as a terminal shows it, wide enough for any sentence."""
    return render_terminal(report, width=400, color=False)


def pages(report: Report) -> list[str]:
    """Return the report in the three forms that people read, blanks as one."""
    texts = (as_text(report), render_html(report), render_markdown(report))
    return [" ".join(text.replace("\\", "").split()) for text in texts]


def as_lake(tables: Tables, root: Path) -> Lake:
    """Return a lake of files that holds what has been inserted."""
    lake = Lake.create(root)
    for table in TABLES:
        columns = ", ".join(
            f"coalesce({column.name}, DATE '2026-11-01') AS date"
            if column.name == "date"
            else column.name
            for column in table.columns
        )
        rows = tables.con.sql(f"SELECT {columns} FROM {table.name}").to_arrow_table()
        lake.replace(table, rows.cast(table.arrow()))
    return lake


PLAN = (
    # decision, expected tool, what release 1.0 picks instead, criterion, why
    ("list", "list_uploads", None, "", ""),
    (
        "check-empty",
        "check_empty",
        "scan_uploads",
        "c",
        "check_empty was offered and costs 1, not 20",
    ),
    ("disk", "check_disk", None, "missed", ""),
    ("clean", "write_clean", None, "", ""),
    ("report", "write_report", "archive", "a", "the task expects write_report, not archive"),
)
GOALS = (
    ("find", True),
    ("validate", True),
    ("disk-space", True),
    ("clean", True),
    ("summary", False),
)


def fill_sample(tables: Tables) -> None:
    """Insert the sample."""
    for release in ("1.0", "1.1"):
        for task in ("process-uploads", "malformed-header", "empty-folder", "duplicate-rows"):
            for trial in (1, 2, 3):
                _sample_run(tables, release, task, trial)
    _sample_aggregates(tables)
    for _ in range(3):
        run = tables.run(
            "2026.11", "weather", tool_call_count=1, input_tokens=210, output_tokens=35
        )
        tables.scored(run, None)
        tables.score(run, "tsa", None, reason="no_expectation")
    tables.release(
        "tool_allowed_rate",
        1.0,
        agent_name="weather",
        release="2026.11",
        numerator=3.0,
        denominator=3.0,
        low=0.44,
        high=1.0,
        scored=3,
        trajectories=3,
    )
    tables.release(
        "tsa", None, agent_name="weather", release="2026.11", not_applicable=3, trajectories=3
    )


def _sample_run(tables: Tables, release: str, task: str, trial: int) -> None:
    old = release == "1.0"
    failures = trial - 1 if task == "malformed-header" else 0
    run = tables.run(
        release,
        task_id=task,
        trial=trial,
        tool_call_count=12 if old else 8,
        error_count=failures,
        run_mode="live",
    )
    tables.scored(run, task)
    tables.score(run, "success", float(not (old and failures)))
    wrong = _sample_decisions(tables, run, release, task)
    tables.score(run, "tsa", (5 - wrong) / 5, numerator=5.0 - wrong, denominator=5.0)
    replans = 0.0 if old else float(failures)
    tables.score(run, "replans", replans)
    tables.score(
        run,
        "replan_given_failure",
        replans / failures if failures else None,
        numerator=replans if failures else None,
        denominator=float(failures) or None,
        reason=None if failures else "no_failure",
    )
    tables.score(
        run,
        "step_efficiency",
        None if old and failures else 5 / (12 if old else 8),
        reason="failed",
    )
    _sample_sub_goals(tables, run, release, task, failed=bool(failures))


def _sample_sub_goals(tables: Tables, run: str, release: str, task: str, *, failed: bool) -> None:
    for goal, critical in GOALS:
        attempted = not (release == "1.0" and goal == "disk-space")
        tables.insert(
            "sub_goals",
            trajectory_id=run,
            sub_goal=goal,
            critical=critical,
            weight=1.0,
            attempted=attempted,
            completed=attempted and not (failed and goal == "clean"),
            regressed=False,
            dependency_violation=False,
            task_id=task,
            release=release,
        )


def _sample_decisions(tables: Tables, run: str, release: str, task: str) -> int:
    wrong = 0
    for index, (decision, expected, instead, criterion, why) in enumerate(PLAN):
        bad = (
            release == "1.0"
            and criterion != ""
            and not (criterion == "a" and task == "empty-folder")
        )
        wrong += bad
        tables.insert(
            "decisions",
            trajectory_id=run,
            decision_index=index,
            decision=decision,
            picked_tool=None if bad and criterion == "missed" else (instead if bad else expected),
            expected_tool=expected,
            correct=not bad,
            missed=bad and criterion == "missed",
            failed_criteria=[criterion] if bad and criterion in "ac" else [],
            step_index=2 * index,
            span_id=f"span{index}",
            reason=why or None,
            counted=True,
            task_id=task,
            release=release,
        )
    return wrong


def _sample_aggregates(tables: Tables) -> None:
    def both(metric: str, old: tuple[float, ...], new: tuple[float, ...], **facts: Any) -> None:
        for release, (value, n, d, low, high) in (("1.0", old), ("1.1", new)):
            tables.release(
                metric,
                value,
                release=release,
                run_mode="live",
                numerator=n,
                denominator=d,
                low=low,
                high=high,
                scored=12,
                not_applicable=0,
                trajectories=12,
                interval_method="bootstrap",
                **facts,
            )

    both(
        "success",
        (10 / 12, 10, 12, 0.55, 0.95),
        (1.0, 12, 12, 0.76, 1.0),
        flags=["insufficient_sample"],
    )
    both(
        "tsa", (27 / 60, 27, 60, 0.4, 0.52), (1.0, 60, 60, 0.9, 1.0), flags=["insufficient_sample"]
    )
    both("step_efficiency", (5 / 12, 50, 120, 0.38, 0.46), (5 / 8, 60, 96, 0.6, 0.65))
    both("sub_goal_coverage", (0.8, 48, 60, 0.78, 0.82), (1.0, 60, 60, 0.94, 1.0))
    both("sub_goal_completion", (0.77, 46, 60, 0.7, 0.8), (0.97, 58, 60, 0.9, 1.0))
    both("critical_path_completion", (0.71, 34, 48, 0.66, 0.76), (0.958, 46, 48, 0.86, 1.0))
    both("tool_allowed_rate", (1.0, 144, 144, 0.97, 1.0), (1.0, 96, 96, 0.96, 1.0))
    both("parameter_validity", (0.979, 141, 144, 0.94, 0.99), (1.0, 96, 96, 0.96, 1.0))
    both("replans_per_100_calls", (0.0, 0, 144, 0.0, 0.0), (3.125, 3, 96, 0.0, 8.1))
    both("replan_given_failure", (0.0, 0, 3, 0.0, 0.56), (1.0, 3, 3, 0.44, 1.0))
