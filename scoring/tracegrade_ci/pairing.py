"""Pairs the runs of a baseline with those of a candidate: which may be compared, and as what."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import pyarrow as pa

from tracegrade.terminal.visible import visible
from tracegrade_ci.baseline import NoBaseline, StoredBaseline
from tracegrade_ci.errors import CheckRefused
from tracegrade_ci.release_rows import ReleaseRows, ScoredBy, renamed, without_costs, without_tasks
from tracegrade_lake import Table
from tracegrade_queries.engine.layers import BUILT
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.rendering import words
from tracegrade_scoring.schema import CUSTOM_SCORES, TRAJECTORY_SCORES

OTHER_PRICES: Final = "Costs are not compared: the baseline's were worked out with other prices."
NAMED: Final = 5
"""Tasks that a reason names."""


class CandidateRuns(NamedTuple):
    """The runs that are checked."""

    release: str
    rows: ReleaseRows
    scored: ScoredBy
    rescored: ReleaseRows | None = None
    """Runs of the baseline's release, where the lake has their spans; scored like the others."""


class PairedRuns(NamedTuple):
    """Runs of both sides that were scored by the same definitions."""

    base: str
    """Name of the baseline's release; differs from the candidate's."""
    base_rows: ReleaseRows
    candidate_rows: ReleaseRows
    changed_tasks: tuple[str, ...]
    """Tasks that are left out because their definition changed, sorted."""
    rescored: bool
    """The baseline's runs were scored again."""
    other_prices: bool = False
    """Costs are left out: the baseline's were worked out with other prices."""

    @property
    def tables(self) -> Mapping[Table, pa.Table]:
        """The tables of a lake that holds both; empty where a comparison needs none."""
        empty = {table: table.arrow().empty_table() for table in (*BUILT.tables, *SCORES.tables)}
        both = {
            table: pa.concat_tables([rows, self.candidate_rows[table]])
            for table, rows in self.base_rows.items()
        }
        own = {METRIC_DEFINITIONS: self.candidate_rows[METRIC_DEFINITIONS]}
        return {**empty, **both, **own}

    @property
    def absent_agents(self) -> tuple[str, ...]:
        """Agents of the baseline without a run of the candidate, sorted."""
        base, candidate = (
            {*rows[TRAJECTORY_SCORES]["agent_name"].to_pylist()}
            for rows in (self.base_rows, self.candidate_rows)
        )
        return tuple(sorted(words.name(name, "no agent") for name in base - candidate))


def paired(baseline: StoredBaseline, candidate: CandidateRuns) -> PairedRuns | NoBaseline:
    """Return the runs of both that may be compared.

    Raises:
        CheckRefused: The candidate's runs are the baseline's own.
    """
    notes = baseline.notes
    changed: tuple[str, ...] = ()
    if candidate.rescored is not None:
        rows = candidate.rescored
    elif notes.scorer_version != candidate.scored.scorer_version:
        return NoBaseline(
            f"not comparable: it was scored by version {words.name(notes.scorer_version)} of the "
            f"metrics, this run by {words.name(candidate.scored.scorer_version)}"
        )
    elif metrics := _changed_metrics(baseline.rows, candidate.rows):
        return NoBaseline(_not_comparable("metrics", metrics))
    else:
        changed, rows = _changed(notes.task_hashes, candidate.scored.task_hashes), baseline.rows
    _check_apart(rows, candidate.rows)
    left = without_tasks(rows, {*changed})
    if changed and not left[TRAJECTORY_SCORES]:
        return NoBaseline(tasks_changed(changed))
    base = notes.release
    if base == candidate.release:
        base = f"{base} (baseline)"
        left = renamed(left, notes.release, base)
    own = without_tasks(candidate.rows, {*changed})
    rescored = candidate.rescored is not None
    if not rescored and notes.prices != candidate.scored.prices:
        left, own = without_costs(left), without_costs(own)
        return PairedRuns(base, left, own, changed, rescored, other_prices=True)
    return PairedRuns(base, left, own, changed, rescored)


def is_outdated(baseline: StoredBaseline, rows: ReleaseRows, scored: ScoredBy) -> bool:
    """Return whether a baseline was scored by other definitions than a candidate."""
    notes = baseline.notes
    changed = _changed(notes.task_hashes, scored.task_hashes)
    is_other = notes.scorer_version != scored.scorer_version
    return is_other or bool(changed or _changed_metrics(baseline.rows, rows))


def _changed(
    before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    both = before.keys() & after.keys()
    return tuple(sorted(task for task in both if before[task] != after[task]))


def runs_of(rows: ReleaseRows) -> set[str]:
    """Return the ids of the scored runs."""
    return {*rows[TRAJECTORY_SCORES]["trajectory_id"].to_pylist()}


def _changed_metrics(before: ReleaseRows, after: ReleaseRows) -> tuple[str, ...]:
    """Return users' own metrics whose definition changed, sorted."""
    return _changed(_metric_hashes(before), _metric_hashes(after))


def _metric_hashes(rows: ReleaseRows) -> Mapping[str, tuple[str, ...]]:
    columns = (rows[CUSTOM_SCORES][name].to_pylist() for name in ("metric", "metric_hash"))
    found: dict[str, set[str]] = {}
    for metric, hash_ in zip(*columns, strict=True):
        if hash_ is not None:
            found.setdefault(metric, set()).add(hash_)
    return {metric: tuple(sorted(hashes)) for metric, hashes in found.items()}


def tasks_changed(tasks: tuple[str, ...]) -> str:
    """Return that tasks changed, as a reason why runs cannot be compared."""
    return _not_comparable("tasks", tasks)


def _not_comparable(things: str, names: tuple[str, ...]) -> str:
    named = ", ".join(words.name(name) for name in names[:NAMED])
    more = f" and {len(names) - NAMED:,} more" if names[NAMED:] else ""
    return f"not comparable: {things} changed ({named}{more})"


def _check_apart(base: ReleaseRows, candidate: ReleaseRows) -> None:
    """Do nothing if no run is on both sides.

    Raises:
        CheckRefused: Some are.
    """
    if both := runs_of(base) & runs_of(candidate):
        msg = (
            f"{words.count(len(both), 'run')} of the candidate, such as {visible(min(both))}, "
            "are the baseline's own; give the runs of this change a release of their own"
        )
        raise CheckRefused(msg)
