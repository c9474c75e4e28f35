"""Scores of a lake as they are sent, with their ids, labels and explanations."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import duckdb

from tracegrade.suggestions import did_you_mean
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import FAILURE_MODES, MAIN_METRICS, METRICS, Metric
from tracegrade_scoring.noted_files import was_scored
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.own_metrics import OWN_METRICS, own_metrics
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.sql import RELATIONS
from tracegrade_send.errors import SendRefused
from tracegrade_send.layer import SENT
from tracegrade_send.sql import query

SUCCESS: Final = "success"
RECOVERED: Final = "call_recovered"
MEMORY_LIMIT: Final = "1GB"
OUTCOMES: Final[Mapping[str | None, str]] = {
    "recovered": "the run reached in another way what it was for",
    "retried": "the same call succeeded later",
    "lost": "nothing made up for it",
}
MOST_CHARACTERS: Final = 500
"""Length of an explanation."""


class ScoreToSend(NamedTuple):
    """A row of `scores_to_send.sql`."""

    key: str
    id: str
    trajectory_id: str
    trace_id: str
    root_span_id: str | None
    span_id: str | None
    called_tool: str | None
    expected_tool: str | None
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
    since: datetime.date | None = None
    """First date of the runs."""
    all_scores: bool = False
    """Scores with nothing to measure as well."""
    refused_again: bool = False
    """Scores that the destination refused before as well."""
    evidence: bool = False
    """Scores of steps as well."""


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
        self.own_metrics = own_metrics(read_rows(self.con, OWN_METRICS))

    def scores(
        self, destination: str, lake_id: str, selection: ScoreSelection, batch: int
    ) -> Iterator[list[ScoreToSend]]:
        """Yield the scores that a destination lacks, in batches, ordered by date and run."""
        result = self._selected(destination, lake_id, selection)
        while rows := result.fetchmany(batch):
            yield [ScoreToSend(*row) for row in rows]

    def counts(
        self, destination: str, lake_id: str, selection: ScoreSelection
    ) -> Mapping[str, int]:
        """Return the numbers of the scores that a destination lacks, by metric."""
        found: dict[str, int] = {}
        for rows in self.scores(destination, lake_id, selection, 100_000):
            for row in rows:
                found[row.metric] = found.get(row.metric, 0) + 1
        return dict(sorted(found.items()))

    def _selected(
        self, destination: str, lake_id: str, selection: ScoreSelection
    ) -> duckdb.DuckDBPyConnection:
        metrics = self._metrics(selection.metrics)
        return self.con.execute(
            query("scores_to_send"),
            {
                "destination": destination,
                "lake_id": lake_id,
                "metrics": metrics,
                "only_if_shown": [] if selection.metrics else [*FAILURE_MODES],
                "since": selection.since,
                "all_scores": selection.all_scores,
                "refused_again": selection.refused_again,
                "evidence": selection.evidence,
            },
        )

    def _metrics(self, chosen: Sequence[str]) -> list[str]:
        """Return the names of the metrics to send.

        Raises:
            SendRefused: One does not exist.
        """
        known = [*METRICS, *self.own_metrics]
        for name in chosen:
            if name not in known:
                hint = did_you_mean(name, known) or "`tracegrade metrics list` names all"
                msg = f"no metric is named '{name}'; {hint}"
                raise SendRefused(msg)
        return [*chosen] or [*MAIN_METRICS, *FAILURE_MODES, *self.own_metrics]

    def texts(self, score: ScoreToSend) -> tuple[str | None, str]:
        """Return the label of a score and its explanation, without text of the trace.

        The label is the metric's; pass or fail of success; the status where there is no value;
        else None. The explanation says what the score was counted from, or why there is none; that
        of a step names its tools.
        """
        if score.span_id:
            return score.label, words.clip(_of_step(score), MOST_CHARACTERS)
        if score.status != "scored":
            return score.status, words.clip(words.reason(score.reason), MOST_CHARACTERS)
        label = score.label
        if label is None and score.metric == SUCCESS:
            label = "pass" if score.value == 1 else "fail"
        metric: Metric | None = METRICS.get(score.metric) or self.own_metrics.get(score.metric)
        text = words.ratio(score.numerator, score.denominator, metric) if metric else ""
        return label, words.clip(text, MOST_CHARACTERS)


def _of_step(score: ScoreToSend) -> str:
    """Return the explanation of a score of a step."""
    called = words.name(score.called_tool, "a call")
    if score.metric == RECOVERED:
        return f"{called} failed; {OUTCOMES[score.label]}"
    wrong_tool = f": the call of {called} was not expected"
    if score.expected_tool:
        wrong_tool = f": {called} was called, {words.name(score.expected_tool)} was expected"
    texts = {
        "wrong_tool": wrong_tool,
        "wrong_arguments": f": the arguments of {called} were wrong",
        "better_tool_offered": f": a better tool than {called} was offered",
    }
    text = words.ratio(score.numerator, score.denominator, METRICS["tsa"])
    return text + texts.get(score.label or "", "")
