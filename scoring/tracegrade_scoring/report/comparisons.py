"""Compares each agent's newest release with the one before it, for the top of a report."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_scoring.compare.attempts import AttemptCounting
from tracegrade_scoring.compare.judge_corrections import MeasuredJudges
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.errors import NothingToCompare
from tracegrade_scoring.report.model import AttemptPolicy, CohortKey, Cohorts, ReportOptions

ReleasePair: TypeAlias = tuple[str, str]
"""The release before, and the newest one."""


def newest_compared(  # noqa: PLR0913, PLR0917 - what a reader may choose
    con: DuckDBPyConnection,
    lake: str,
    keys: Sequence[CohortKey],
    counting: AttemptPolicy,
    options: ReportOptions,
    measured: MeasuredJudges,
    pinned: PinnedLake | None = None,
) -> dict[Cohorts, Comparisons]:
    """Return for each agent and run mode its last two releases compared.

    Agents are left out if they have one release, if one of the two has no name, or if one has no
    scored runs.

    Args:
        con: Holds the tables of a scored lake.
        lake: The lake's name for the reader.
        keys: The cohorts, releases in their order.
        counting: The attempts that count.
        options: Level of every interval, and weights of the T-Score.
        measured: Measurements of judges.
        pinned: As for `read_comparisons`.
    """
    agents: dict[ReleasePair, list[Cohorts]] = defaultdict(list)
    for cohorts, pair in _last_two(keys):
        agents[pair].append(cohorts)
    attempts = AttemptCounting(counting.missing, counting.trials)
    compared: dict[Cohorts, Comparisons] = {}
    for (base, candidate), cohorts_of_agent in agents.items():
        try:
            found = read_comparisons(
                con,
                lake,
                base,
                candidate,
                level=options.level,
                counting=attempts,
                weights=options.weights,
                measured=measured,
                pinned=pinned,
            )
        except NothingToCompare:
            continue
        for comparison in found.cohorts:
            cohorts = (comparison.cohort.agent_name, comparison.cohort.run_mode)
            if cohorts in cohorts_of_agent:
                compared[cohorts] = replace(found, cohorts=(comparison,))
    return compared


def _last_two(keys: Sequence[CohortKey]) -> Iterator[tuple[Cohorts, ReleasePair]]:
    for (agent_name, run_mode), found in groupby(keys, key=lambda key: key[:2]):
        base, candidate = (None, None, *(key.release for key in found))[-2:]
        if base is not None and candidate is not None:
            yield (agent_name, run_mode), (base, candidate)
