"""What a run finds by the notes of the last one is what it finds by looking everywhere."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.traces import land, request_of, tool
from tests.scoring.build import specification

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_lake import VERDICTS, Lake
from tracegrade_lake.crash_points import EXIT_CODE, VARIABLE
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.row_removal import remove_rows
from tracegrade_lake.maintenance.row_selection import rows_of_traces
from tracegrade_lake.tables import table_in
from tracegrade_queries.build.build import build
from tracegrade_queries.costs.pricing import NO_PRICES, update_costs
from tracegrade_queries.engine.connection import NO_LIMITS
from tracegrade_queries.schema import PRICED_DATES
from tracegrade_scoring.job.commit import run_numbers
from tracegrade_scoring.job.discovery import ALL, TraceFilter, unscored
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.noted_files import SCORED_FILES
from tracegrade_scoring.schema import SCORE_SUMS, TRAJECTORY_SCORES

from .lakes import TASKS, run, tables, tracegrade_score

SPECIFICATIONS = [specification(text) for text in (TASKS, TASKS.replace("cost: 1", "cost: 2"))]


class Arrival(NamedTuple):
    """Spans of these traces land: whole runs, or spans of a tool alone."""

    traces: frozenset[int]
    day: int
    whole: bool


class Verdict(NamedTuple):
    """Somebody judges a run, for the first time or anew."""

    trace: int
    value: float


class Erasure(NamedTuple):
    """Rows of a trace are removed, of all tables or of its scores alone."""

    trace: int
    everywhere: bool


class Upkeep(NamedTuple):
    """Files are compacted."""


class Scoring(NamedTuple):
    """What is there is scored, of one agent or of all."""

    tasks: int
    chosen: TraceFilter


traces = st.integers(1, 5)
arrivals = st.builds(
    Arrival,
    traces=st.frozensets(traces, min_size=1, max_size=3),
    day=st.integers(0, 3),
    whole=st.booleans(),
)
scorings = st.builds(
    Scoring,
    tasks=st.sampled_from([0, 0, 0, 1]),
    chosen=st.sampled_from([ALL, ALL, TraceFilter(agent_name="other")]),
)
changes = st.one_of(
    st.builds(Verdict, trace=traces, value=st.sampled_from([0.0, 1.0])),
    st.builds(Erasure, trace=traces, everywhere=st.booleans()),
    st.just(Upkeep()),
)
histories = st.lists(
    st.tuples(arrivals, st.lists(changes, max_size=2), scorings), min_size=2, max_size=3
)


def happen(lake: Lake, event: Arrival | Verdict | Erasure | Upkeep, seq: int) -> None:
    """Let the lake be as it is after an event."""
    if isinstance(event, Arrival):
        arrive(lake, event, seq)
    elif isinstance(event, Verdict):
        judge(lake, event)
    elif isinstance(event, Erasure):
        erase(lake, event)
    else:
        compact(lake, CompactOptions(min_age_secs=0), lambda _: None)


def arrive(lake: Lake, arrival: Arrival, seq: int) -> None:
    """Land spans; runs of even traces are another agent's."""
    bodies = [
        run(trace, "look", agent_name="a" if trace % 2 else "other")
        if arrival.whole
        else request_of([tool(seq + 10, 1, trace=trace, at=seq)])
        for trace in sorted(arrival.traces)
    ]
    land(lake, *bodies, seq=10 * seq, day=arrival.day)


def judge(lake: Lake, verdict: Verdict) -> None:
    """Add or replace a verdict."""
    named = {"trajectory_id": f"{verdict.trace:032x}", "label": None, "source": "human"}
    about = {"subject": "success", "sub_goal": None, "kill_point": None, "evidence": None}
    add_clean_verdicts(lake, [{**named, **about, "value": verdict.value}])


def erase(lake: Lake, erasure: Erasure) -> None:
    """Remove the rows of a trace."""
    names = lake.tables() if erasure.everywhere else [TRAJECTORY_SCORES.name]
    for name in set(names) & set(lake.tables()):
        selection = rows_of_traces(table_in(lake, name), [f"{erasure.trace:032x}"])
        if selection:
            remove_rows(lake, name, selection, lambda _: None)


def found(lake: Lake, scoring: Scoring) -> list[Any]:
    """Return what would be scored now, in a fixed order."""
    numbers, spec = run_numbers(lake), SPECIFICATIONS[scoring.tasks]
    with unscored(lake, spec, scoring.chosen, NO_LIMITS, numbers=numbers, full=False) as each:
        rows = each.con.sql("FROM traces_to_score ORDER BY trace_id").fetchall()
        return [each.sums_are_whole, *rows]


def without_notes(lake: Lake, folder: Path) -> Lake:
    """Return a copy in which nothing is noted."""
    copy = Lake.open(shutil.copytree(lake.root, folder / "copy"))
    for name in {SCORED_FILES.name, PRICED_DATES.name}.intersection(copy.tables()):
        copy.drop(name)
    return copy


@pytest.mark.slow
@given(histories)
@settings(max_examples=2)
def test_notes_find_what_is_found_everywhere(
    history: list[tuple[Arrival, list[Verdict | Erasure | Upkeep], Scoring]],
) -> None:
    """It holds for all additions, changes and removals, and for any selections in between."""
    with TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        for seq, (arrival, others, scoring) in enumerate(history, 1):
            for event in (arrival, *others):
                happen(lake, event, seq)
            build(lake)
            with TemporaryDirectory() as aside:
                everywhere = without_notes(lake, Path(aside))
                assert found(lake, scoring) == found(everywhere, scoring)
                assert update_costs(lake, NO_PRICES) == update_costs(everywhere, NO_PRICES)
            score(lake, SPECIFICATIONS[scoring.tasks], chosen=scoring.chosen)
        score(lake, SPECIFICATIONS[0])
        step_by_step = tables(lake)
        score(lake, SPECIFICATIONS[0], full=True)

        assert tables(lake) == step_by_step


@pytest.fixture(scope="module")
def three_days(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with a run on each of three days, scored once; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("days") / "lake")
    for day in range(3):
        land(lake, run(day + 1, "look"), seq=day + 1, day=day)
    score(lake, SPECIFICATIONS[0])
    return lake


@pytest.fixture
def days(three_days: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake of one's own."""
    return Lake.open(shutil.copytree(three_days.root, tmp_path / "lake"))


def looked_at(lake: Lake, tasks: int = 0) -> list[str] | None:
    """Return the dates at which a run would look; None for all."""
    numbers, spec = run_numbers(lake), SPECIFICATIONS[tasks]
    with unscored(lake, spec, ALL, NO_LIMITS, numbers=numbers, full=False) as each:
        return None if each.scope.dates is None else sorted(each.scope.dates)


def test_only_dates_with_something_new_are_looked_at(days: Lake) -> None:
    """A late span, a verdict on an old run: each costs its date, and nothing new costs none."""
    assert looked_at(days) == []
    judge(days, Verdict(2, 1.0))
    assert looked_at(days) == ["2026-09-22"]

    happen(days, Arrival(frozenset({3}), 3, whole=False), 5)
    build(days)
    assert looked_at(days) == ["2026-09-22", "2026-09-23"]


@pytest.mark.slow
def test_moved_verdicts_are_not_new(days: Lake) -> None:
    """Where a verdict stands makes no difference, and one that is erased counts as one given."""
    for trace in (1, 2, 3):
        judge(days, Verdict(trace, 1.0))
    assert score(days, SPECIFICATIONS[0]).trajectories == 3
    assert looked_at(days) == []
    rows = days.dataset(VERDICTS.name).to_table()  # type: ignore[union-attr]
    days.replace(VERDICTS, rows)
    assert looked_at(days) == []

    days.replace(VERDICTS, rows.slice(1))
    assert len(looked_at(days) or ()) == 1


@pytest.mark.parametrize("table", [SCORED_FILES, SCORE_SUMS], ids=lambda table: table.name)
def test_without_whole_notes_every_date_is_looked_at(days: Lake, table: Any) -> None:
    """So it is where tasks, tools or definitions are others."""
    assert looked_at(days, tasks=1) is None
    days.drop(table.name)

    assert looked_at(days) is None


@pytest.mark.slow
def test_waiting_runs_are_looked_at_again(days: Lake) -> None:
    """A run that was not asked for is looked for by each scoring until it is scored."""
    land(days, run(4, "pay", agent_name="other"), seq=7, day=2)
    assert score(days, SPECIFICATIONS[0], chosen=TraceFilter(agent_name="a")).trajectories == 0
    assert looked_at(days) == ["2026-09-23"]
    assert score(days, SPECIFICATIONS[0]).trajectories == 1

    assert looked_at(days) == []


@pytest.mark.slow
def test_run_killed_before_it_noted_anything_is_made_up_for(days: Lake, tmp_path: Path) -> None:
    """Its scores stand; the next run looks everywhere, finds nothing, and notes that."""
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    land(days, run(4, "look"), seq=7, day=2)
    last_commit = {VARIABLE: "scores_committed:10"}
    died = tracegrade_score(days, "--tasks", str(tmp_path / "tasks.yaml"), **last_commit)

    assert died.returncode == EXIT_CODE
    assert looked_at(days) is None
    assert score(days, SPECIFICATIONS[0]).trajectories == 0
    assert looked_at(days) == []
