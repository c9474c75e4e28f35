"""What results read of captures that were scored together: each thing once, when it is asked for.

A test asks for few metrics, and the rest is never made.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_scoring.job.lazy_scores import LazyScores
from tracegrade_scoring.schema import DECISIONS, RUN_REASONS
from tracegrade_scoring.timeline.model import RunReason, RunScore


class RunCall(NamedTuple):
    """One tool call of a run."""

    tool: str
    arguments: str | None
    """Canonical JSON; None if not captured."""
    status: str | None
    """ok | error | not_executed | interrupted | unknown."""


class Calls(list[str]):
    """The names of the tools that a run called, in order; equal to any list of these names."""

    def __init__(self, calls: Sequence[RunCall] = ()) -> None:
        super().__init__(call.tool for call in calls)
        self.made = tuple(calls)
        """The calls with their arguments."""


class RunFacts(NamedTuple):
    """One run, without what scoring makes of it."""

    trajectory_id: str
    trace_id: str
    agent_name: str | None
    task_id: str | None
    """As its spans name it."""
    calls: Calls


_RUNS: Final = """
  SELECT trajectory_id, trace_id, agent_name, task_id
  FROM trajectories
  WHERE parent_trajectory_id IS NULL AND is_fragment IS NOT TRUE
  ORDER BY start_time, trajectory_id
"""

_CALLS: Final = """
  SELECT trajectory_id, coalesce(tool_name, ''), arguments, status
  FROM steps
  WHERE kind = 'tool_call'
  ORDER BY trajectory_id, step_index
"""

_COLUMNS: Final = ("trajectory_id", *RunScore._fields, "task_id")


class ScoredRuns:
    """The runs of captures that were scored together."""

    def __init__(self, lazy: LazyScores) -> None:
        """Take scores of which nothing has to be made yet."""
        self._lazy = lazy
        self._scores: defaultdict[str, dict[str, RunScore]] = defaultdict(dict)
        self._tasks: dict[str, str | None] = {}

    @property
    def engine(self) -> DuckDBPyConnection:
        """All tables, as a scored lake has them."""
        return self._lazy.whole

    @cached_property
    def runs(self) -> tuple[RunFacts, ...]:
        """Every run, without those of sub-agents, in the order in which they began."""
        calls: defaultdict[str, list[RunCall]] = defaultdict(list)
        for trajectory_id, *call in self._lazy.built.sql(_CALLS).fetchall():
            calls[trajectory_id].append(RunCall(*call))
        rows = self._lazy.built.sql(_RUNS).fetchall()
        return tuple(
            RunFacts(trajectory_id, trace_id, agent, task, Calls(calls[trajectory_id]))
            for trajectory_id, trace_id, agent, task in rows
        )

    def score(self, run: RunFacts, metric: str) -> RunScore | None:
        """Return a score of a run; None if there is no such metric."""
        if metric not in self._scores[run.trajectory_id]:
            self._take(self._lazy.of_metric(metric, _COLUMNS))
        return self._scores[run.trajectory_id].get(metric)

    @cached_property
    def scores(self) -> Mapping[str, Mapping[str, RunScore]]:
        """All scores of each run, by metric."""
        self._take(self.engine.execute(f"SELECT {', '.join(_COLUMNS)} FROM scores").fetchall())
        return self._scores

    def task(self, run: RunFacts) -> str | None:
        """Return the task that a run was scored by."""
        self.score(run, "success")
        return self._tasks.get(run.trajectory_id) or run.task_id

    @cached_property
    def reasons(self) -> defaultdict[str, tuple[RunReason, ...]]:
        """What went wrong with each run, the most direct reason first."""
        found: defaultdict[str, tuple[RunReason, ...]] = defaultdict(tuple)
        rows = self._lazy.evidence(RUN_REASONS).sort_by("rank_in_run")
        names = ("trajectory_id", *RunReason._fields)
        for trajectory_id, *reason in zip(
            *(rows[name].to_pylist() for name in names), strict=True
        ):
            found[trajectory_id] += (RunReason(*reason),)
        return found

    @cached_property
    def expected(self) -> defaultdict[str, tuple[str, ...]]:
        """The tools that the task of each run expects, in the order of its decision points."""
        found: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
        rows = self._lazy.evidence(DECISIONS).sort_by("decision_index")
        columns = (rows[name].to_pylist() for name in ("trajectory_id", "expected_tool"))
        for trajectory_id, tool in zip(*columns, strict=True):
            found[trajectory_id] += () if tool is None else (tool,)
        return found

    def _take(self, rows: Sequence[tuple[Any, ...]]) -> None:
        for trajectory_id, *score, task_id in rows:
            found = RunScore(*score)
            self._scores[trajectory_id][found.metric] = found
            self._tasks[trajectory_id] = task_id
