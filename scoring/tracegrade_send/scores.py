"""Scores of a lake that a destination lacks, with their ids."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa

from tracegrade.suggestions import did_you_mean
from tracegrade_lake import Lake
from tracegrade_lake.columns import BOOLEAN, DATE, TEXT
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import (
    make_empty,
    make_table,
    make_view,
    only,
    put,
    table,
)
from tracegrade_queries.engine.sql import declared_columns
from tracegrade_scoring.issue_marks import Marks, merged_issues, stored_marks, with_merged
from tracegrade_scoring.issues.read import take_issue_attempts
from tracegrade_scoring.issues.states import MUTED
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import FAILURE_MODES, MAIN_METRICS, METRICS, Kind
from tracegrade_scoring.noted_files import was_scored
from tracegrade_scoring.rendering.own_metrics import OWN_METRICS, own_metrics
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.sql import RELATIONS
from tracegrade_send.errors import SendRefused
from tracegrade_send.layer import SENT
from tracegrade_send.sql import QUERIES, query

MEMORY_LIMIT: Final = "1GB"
ISSUE: Final = "issue"
"""The metric of scores that name an issue of a run."""


class ScoreToSend(NamedTuple):
    """A row of `scores_to_send.sql`."""

    key: str
    id: str
    trajectory_id: str
    trace_id: str
    root_span_id: str | None
    response_id: str | None
    span_id: str | None
    conversation_id: str | None
    runs: int | None
    issue_rank: int | None
    called_tool: str | None
    expected_tool: str | None
    issue: str | None
    issue_kind: str | None
    issue_object: str | None
    issue_step: int | None
    sentence: str | None
    metric: str
    value: float | None
    numerator: float | None
    denominator: float | None
    status: str
    label: str | None
    reason: str | None
    source: str | None
    task_id: str | None
    release: str | None
    agent_name: str | None
    environment: str | None
    scorer_version: str
    specification_hash: str | None
    received_ns: int
    date: datetime.date
    remote_id: str | None
    waits_since: datetime.datetime | None


@dataclass(frozen=True)
class ScoreSelection:
    """The scores to send."""

    metrics: Sequence[str] = ()
    """Names; none for the default ones."""
    main_metrics: Sequence[str] = MAIN_METRICS
    """Built-in metrics among the default ones, in addition to failure modes."""
    since: datetime.date | None = None
    """First date of the runs."""
    all_scores: bool = False
    """Scores with nothing to measure as well."""
    refused_again: bool = False
    """Scores that the destination refused before as well."""
    evidence: bool = False
    """Scores of steps as well."""
    issues: bool = False
    """Issues of runs as well."""
    conversations: bool = False
    """Scores of conversations as well."""
    with_content: bool = False
    """Explanations of issues may quote the trace."""
    responses: bool = False
    """Attempts without a root span are known by the response of a model."""


class ScoredLake:
    """A lake opened to send its scores."""

    def __init__(self, lake: Lake) -> None:
        """Open it.

        Raises:
            SendRefused: It has never been scored.
        """
        if not was_scored(lake):
            msg = (
                f"the lake at {lake.location} has never been scored, so there is nothing to send; "
                f"run `tracegrade score --lake {lake.location}` first"
            )
            raise SendRefused(msg)
        self.con = connect(lake, layers=(SCORES, SENT), memory_limit=MEMORY_LIMIT)
        RELATIONS.make(self.con, "killed_runs")
        RELATIONS.make(self.con, "superseded_runs")
        RELATIONS.make(self.con, "observed_optima")
        make_view(self.con, "attempts_to_send", query("attempts_to_send"))
        self.own_metrics = own_metrics(read_rows(self.con, OWN_METRICS))
        self._marks = stored_marks(lake)

    def scores(
        self, destination: str, lake_id: str, selection: ScoreSelection, batch: int
    ) -> Iterator[list[ScoreToSend]]:
        """Yield the scores that a destination lacks, in batches, ordered by date and run."""
        with self.chosen(selection, is_new=self._is_new(destination)):
            values = _values(destination, lake_id, selection)
            result = self.con.execute(query("scores_to_send"), values)
            while rows := result.fetchmany(batch):
                yield [ScoreToSend(*row) for row in rows]

    def counts(
        self, destination: str, lake_id: str, selection: ScoreSelection
    ) -> Mapping[str, int]:
        """Return the numbers of the scores that a destination lacks, by metric."""
        is_new = self._is_new(destination)
        values = {} if is_new else _values(destination, lake_id, selection)
        rows = QUERIES.unordered("scores_to_send") if values else _ALL_NEWS
        with self.chosen(selection, is_new=is_new):
            found = self.con.execute(
                f"SELECT metric, count(*) FROM ({rows}\n) GROUP BY metric ORDER BY metric", values
            ).fetchall()
        return dict(found)

    def _is_new(self, destination: str) -> bool:
        """Return whether a destination has answered to nothing; no key is looked up then."""
        answers = "SELECT 1 FROM sent_scores WHERE destination = $destination LIMIT 1"
        return not self.con.execute(answers, {"destination": destination}).fetchall()

    @contextmanager
    def chosen(self, selection: ScoreSelection, *, is_new: bool) -> Iterator[None]:
        """Let the connection hold the scores of a selection, and no column of other metrics.

        Args:
            selection: The scores.
            is_new: The destination has none, so that none has to be taken back.
        """
        self._take_selection(selection)
        of_metrics = (each for each in self._metrics(selection) if each in METRICS)
        columns = ", ".join(dict.fromkeys((*_OF_RUNS, *of_metrics)))
        with only(self.con, ["trajectory_scores"], _SENDABLE, columns):
            self._take("step_scores", {}, needed=selection.evidence)
            self._take_issues(needed=selection.issues, is_new=is_new)
            self._take("session_scores", {}, needed=selection.conversations)
            self._take("lone_responses", {}, needed=selection.responses and self._has_rootless())
            make_view(self.con, "wanted_scores", query("wanted_scores"))
            yield

    def _take_selection(self, selection: ScoreSelection) -> None:
        """Create `what_to_send` and `metrics_to_send`.

        Raises:
            SendRefused: A metric does not exist.
        """
        chosen = (selection.since, selection.all_scores)
        put(self.con, "what_to_send", table(_WHAT, [chosen]))
        modes, means = () if selection.metrics else FAILURE_MODES, self._means()
        metrics = self._metrics(selection)
        rows = [(name, name in modes, name in means) for name in metrics]
        put(self.con, "metrics_to_send", table(_METRICS, rows))

    def _take(self, name: str, values: Mapping[str, object], *, needed: bool) -> None:
        if needed:
            make_table(self.con, name, QUERIES.unordered(name), values)
        else:
            make_empty(self.con, name, declared_columns(query(name)))

    def _take_issues(self, *, needed: bool, is_new: bool) -> None:
        if needed:
            take_issue_attempts(self.con, merged_issues(self._marks))
        values = {"muted": _muted(self._marks), "empty_ones": not is_new}
        self._take("issue_scores", values, needed=needed)

    def _means(self) -> list[str]:
        known = {**self.own_metrics, **METRICS}
        return [name for name, each in known.items() if each.kind is Kind.TASK_MEAN]

    def _has_rootless(self) -> bool:
        rootless = "SELECT 1 FROM attempts_to_send WHERE root_span_id IS NULL LIMIT 1"
        return bool(self.con.execute(rootless).fetchall())

    def _metrics(self, selection: ScoreSelection) -> list[str]:
        """Return the names of the metrics to send.

        Raises:
            SendRefused: One does not exist.
        """
        known = [*METRICS, *self.own_metrics]
        for name in selection.metrics:
            if name not in known:
                hint = did_you_mean(name, known) or "`tracegrade metrics list` names all"
                msg = f"no metric is named '{name}'; {hint}"
                raise SendRefused(msg)
        usual = [*selection.main_metrics, *FAILURE_MODES, *self.own_metrics]
        return [*selection.metrics] or usual


_WHAT: Final = pa.schema({"since": DATE, "all_scores": BOOLEAN})
_METRICS: Final = pa.schema({"metric": TEXT, "only_if_shown": BOOLEAN, "is_mean": BOOLEAN})
_ALL_NEWS: Final = "SELECT metric FROM wanted_scores WHERE is_news"
_SENDABLE: Final = "trajectory_id IN (SELECT trajectory_id FROM attempts_to_send)"
_OF_RUNS: Final = (
    *("trajectory_id", "task_id", "task_category", "release", "agent_name", "run_mode"),
    *("sample_weight", "date", "scorer_version", "task_hash", "specification_hash", "input_hash"),
    *("dimensions", "step_efficiency", "step_ratio", "actual_steps", "success"),
)
"""Columns of `trajectory_scores` that are read whatever metrics are sent."""


def _values(destination: str, lake_id: str, selection: ScoreSelection) -> dict[str, object]:
    """Return the parameters of `scores_to_send.sql`."""
    again = selection.refused_again
    return {"destination": destination, "lake_id": lake_id, "refused_again": again}


def _muted(marks: Marks) -> list[str]:
    """Return the keys of the issues whose newest state is that they need no attention."""
    states = {
        issue: [row["state"] for row in rows if row["state"] is not None]
        for issue, rows in with_merged(marks).items()
    }
    return [issue for issue, each in states.items() if each and each[-1] == MUTED]
