"""The index is the lake's rows, and a filter's runs are those that plain Python picks of them."""

import math
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from duckdb import DuckDBPyConnection
from hypothesis import given, settings
from tests.benchmarks.made_lake import Maker, task_file
from tests.examples import many
from tests.explorer.test_grammar import filters
from tests.slow import slow_after

from tracegrade_explorer.filters.grammar import (
    LISTS,
    NAMED,
    NUMBERS,
    STARTED,
    TEXTS,
    Filter,
    parse_query,
)
from tracegrade_explorer.snapshots.rows import (
    count_runs,
    find_run,
    neighbors,
    read_runs,
    runs_page,
)
from tracegrade_explorer.snapshots.snapshot import LakeSnapshot, read_matching, take_snapshot
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.tasks.specification import usable_specification

Row = dict[str, Any]
OF_DAY = 20
RUNS = 3 * OF_DAY


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of made runs on three days, scored."""
    place = tmp_path_factory.mktemp("made") / "lake"
    found = Lake.create(place)
    maker = Maker(found)
    for day in range(3):
        maker.add(day * OF_DAY, (day + 1) * OF_DAY, day)
    (place / "tasks.yaml").write_text(task_file())
    score(found, usable_specification(place / "tasks.yaml")[0])
    return found


@pytest.fixture(scope="module")
def snapshot(lake: Lake) -> Iterator[LakeSnapshot]:
    """That lake as the pages see it."""
    with closing(take_snapshot(lake, 1_000)) as found:
        yield found


@pytest.fixture(scope="module")
def con(snapshot: LakeSnapshot) -> DuckDBPyConnection:
    """A cursor over the index."""
    return snapshot.con.cursor()


@pytest.fixture(scope="module")
def rows(con: DuckDBPyConnection) -> list[Row]:
    """The whole index."""
    found = con.sql("FROM run_index ORDER BY seq")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def test_index_has_the_scores_of_the_lake(lake: Lake, rows: list[Row]) -> None:
    """Each value is that of the view `scores`, to the last bit; each reason is the lake's."""
    with connect(lake, layers=(SCORES,)) as con:
        scores = con.sql("SELECT trajectory_id, metric, value, reason FROM scores").fetchall()
    by_id = {row["trajectory_id"]: row for row in rows}

    assert len(by_id) == len(rows) == RUNS
    assert len(scores) == RUNS * len(METRICS)
    wrong = [
        (run, metric, value, by_id[run][metric])
        for run, metric, value, reason in scores
        if by_id[run][metric] != value
        or by_id[run][f"{metric}_reason"] != ((reason and value is None and reason.split(":")[0])
                                              or None)
    ]  # fmt: skip
    assert wrong == []


def test_index_is_dense_and_the_newest_come_first(rows: list[Row]) -> None:
    """Places have no gaps; starts fall."""
    assert [row["seq"] for row in rows] == [*range(RUNS)]
    starts = [row["start_time"] for row in rows]
    assert starts == sorted(starts, reverse=True)


def test_no_more_runs_are_kept_than_wanted(lake: Lake, rows: list[Row]) -> None:
    """The newest stay; how many are left out is known."""
    with closing(take_snapshot(lake, 10)) as small:
        ids = small.con.sql("SELECT trajectory_id FROM run_index ORDER BY seq").fetchall()
        assert (small.runs, small.left_out) == (10, RUNS - 10)
    assert [run for (run,) in ids] == [row["trajectory_id"] for row in rows[:10]]


def plainly(rows: list[Row], wanted: Filter) -> list[str]:
    """Return the ids of a filter's runs in its order, without any SQL."""
    found = [row for row in rows if _fits(row, wanted)]
    return [row["trajectory_id"] for row in sorted(found, key=lambda row: _order(row, wanted))]


def _fits(row: Row, wanted: Filter) -> bool:
    level = {"root": row["parent_trajectory_id"] is None, "all": True}.get(
        wanted.level, row["parent_trajectory_id"] is not None
    )
    return (
        level
        and all(_named(row, key, names) for key, names in wanted.names.items())
        and all(_within(row[NUMBERS[key]], ends) for key, ends in wanted.ranges.items())
        and (not wanted.since or (row["start_time"] is not None
                                  and row["start_time"] >= wanted.since))
        and (not wanted.until or (row["start_time"] is not None
                                  and row["start_time"] < wanted.until))
        and (not wanted.received or wanted.received[0] <= row["date"] <= wanted.received[1])
        and wanted.counted in {None, not (row["killed"] or row["superseded"])}
        and wanted.request.lower() in (row["request"] or "").lower()
    )  # fmt: skip


def _named(row: Row, key: str, names: tuple[str | None, ...]) -> bool:
    if key in LISTS:
        has = row[LISTS[key]] or []
        return (None in names and not has) or any(name in has for name in names)
    return row[TEXTS[key]] in names


def _within(value: float | None, ends: Any) -> bool:
    if ends is None or value is None:
        return ends is None and value is None
    return (ends.low is None or value >= ends.low) and (ends.high is None or value <= ends.high)


def _order(row: Row, wanted: Filter) -> tuple[bool, float, int]:
    if wanted.sort == STARTED:
        return False, 0.0, -row["seq"] if wanted.descending else row["seq"]
    value = row[NUMBERS[wanted.sort]]
    if value is None:
        return True, 0.0, row["seq"]
    return False, -value if wanted.descending else value, row["seq"]


def random_filter(rows: list[Row], chance: random.Random) -> Filter:
    """Return a filter that some of the rows fit: names and ends are theirs."""
    pairs = []
    for key in chance.sample([*NAMED], chance.choice((0, 1, 1, 2))):
        column = {**TEXTS, **LISTS}[key]
        for row in chance.sample(rows, chance.choice((1, 2))):
            value = chance.choice(row[column] or [None]) if key in LISTS else row[column]
            pairs.append((key, "~" if value is None else value))
    for key in chance.sample([*NUMBERS], chance.choice((0, 1, 1, 2))):
        values = sorted(row[NUMBERS[key]] for row in chance.sample(rows, 2)
                        if row[NUMBERS[key]] is not None)  # fmt: skip
        text = "..".join((repr(values[0]), repr(values[-1]))) if values else "~"
        low = f"{values[0]!r}.." if values else "~"
        pairs.append((key, chance.choice((text, low, "..", "~"))))
    if chance.random() < 0.3:
        start = chance.choice(rows)["start_time"] + timedelta(seconds=chance.choice((0, 1)))
        pairs.append((chance.choice(("since", "until")), start.isoformat()))
    if chance.random() < 0.2:
        pairs.append(("counted", chance.choice(("yes", "yes", "no"))))
    if chance.random() < 0.2:
        pairs.append(("request", chance.choice(rows)["request"][10:20].upper()))
    pairs.append(("sort", chance.choice(("", "-")) + chance.choice((STARTED, *NUMBERS))))
    return parse_query(urlencode(pairs))


def listed(con: DuckDBPyConnection, wanted: Filter, rows: int = 1_000) -> list[str]:
    """Return the ids of a filter's runs as the pages list them."""
    return [row["trajectory_id"] for row in runs_page(con, wanted, rows).rows]


def test_runs_of_filters_are_those_of_plain_python(
    con: DuckDBPyConnection, rows: list[Row]
) -> None:
    """100 random filters: the same ids in the same order, and the same count."""
    chance = random.Random(7)  # noqa: S311 - reproducible, not secret
    sizes = Counter[bool]()
    for _ in range(100):
        wanted = random_filter(rows, chance)
        expected = plainly(rows, wanted)
        sizes[bool(expected)] += 1

        assert listed(con, wanted) == expected, wanted
        assert count_runs(con, wanted) == len(expected)
    assert sizes[True] > 50


@settings(max_examples=many(20))
@given(wanted=filters())
def test_any_filter_can_be_asked(con: DuckDBPyConnection, rows: list[Row], wanted: Filter) -> None:
    """Whatever names and ends an address has, the runs are those of plain Python."""
    wanted = wanted.beginning_after(None)
    if wanted.request.isascii():
        assert listed(con, wanted) == plainly(rows, wanted)


@pytest.mark.parametrize(
    "order", slow_after(3, ["-started", "tsa", "-cost_usd", "started", "-tsa", "steps"])
)
def test_pages_of_a_list_are_the_list(con: DuckDBPyConnection, order: str) -> None:
    """One after another, no run is missed or twice, where many have the same value or none."""
    wanted = parse_query(f"sort={order}")
    whole = listed(con, wanted)
    found: list[str] = []
    after: str | None = None
    while True:
        page = runs_page(con, wanted.beginning_after(after), 17)
        found += [row["trajectory_id"] for row in page.rows]
        if not page.more:
            break
        after = found[-1]
    assert found == whole


@pytest.mark.parametrize(
    "query", slow_after(2, ["sort=-tsa&release=1.1", "tsa=0..0.5", "sort=-started"])
)
def test_previous_and_next_walk_the_list(con: DuckDBPyConnection, query: str) -> None:
    """From the first run to the last, and each says its number."""
    wanted = parse_query(query)
    whole = listed(con, wanted)
    around = [neighbors(con, wanted, find_run(con, run).seq) for run in whole]

    assert [each.number for each in around] == [*range(1, len(whole) + 1)]
    assert [each.following for each in around] == [*whole[1:], None]
    assert [each.previous for each in around] == [None, *whole[:-1]]
    assert {each.runs for each in around} == {len(whole)}


def test_facets_add_up_to_the_list(con: DuckDBPyConnection, rows: list[Row]) -> None:
    """Of each facet the counts are the filter's; of lists they are those of plain Python."""
    wanted = parse_query("tsa=..")
    found = read_matching(con, "facets", wanted, parameters={"names": 1_000})
    lists = [row for row in found if row["facet"] in LISTS]
    sums = Counter[str]()
    for row in found:
        if row["facet"] not in {*LISTS, "reason"}:
            sums[row["facet"]] += row["runs"]
    assert set(sums.values()) == {count_runs(con, wanted)}
    assert len(sums) == 6

    chosen = {*plainly(rows, wanted)}
    plain = Counter(
        (facet, name)
        for row in rows
        if row["trajectory_id"] in chosen
        for facet, column in LISTS.items()
        for name in row[column]
    )
    assert {(row["facet"], row["name"]): row["runs"] for row in lists} == plain - Counter(
        {pair: number for pair, number in plain.items() if pair[1] == "unclassified"}
    )


def test_failed_runs_are_grouped_by_their_first_reason(
    con: DuckDBPyConnection, rows: list[Row]
) -> None:
    """Each failed run is in one group, whose address lists these runs; no other run is in any."""
    failed = [row for row in rows if row["outcome"] == "failed" and row["reason"] is not None]
    found = read_matching(con, "facets", parse_query("level=all"), parameters={"names": 1_000})
    groups = {row["name"]: row["runs"] for row in found if row["facet"] == "reason"}

    assert groups == Counter(row["reason"] for row in failed)
    assert all(row["why"] for row in failed)
    assert not any(row["reason"] for row in rows if row["outcome"] != "failed")
    for name, number in groups.items():
        query = urlencode({"reason": name, "level": "all"})
        assert count_runs(con, parse_query(query)) == number


def test_each_bar_of_a_histogram_leads_to_its_runs(con: DuckDBPyConnection) -> None:
    """The bars are the runs of their ranges, the last end included, and no run is in two."""
    wanted = parse_query("")
    rows = read_matching(
        con, "histogram", wanted, measured="tsa", parameters={"low": 0.0, "high": 1.0, "bins": 10}
    )
    counts = {row["bin"]: row["runs"] for row in rows}
    for place in range(10):
        high = 1.0 if place == 9 else math.nextafter((place + 1) / 10, 0)
        assert count_runs(con, wanted.within("tsa", place / 10, high)) == counts.get(place, 0)
    assert count_runs(con, parse_query("tsa=~")) == counts.get(None, 0)
    assert sum(counts.values()) == count_runs(con, wanted)


def test_runs_are_read_in_the_order_of_their_places(con: DuckDBPyConnection) -> None:
    """As asked for, not as they stand."""
    found = read_runs(con, [5, 2, 9], ["tsa"])
    assert [row["seq"] for row in found] == [5, 2, 9]
    assert isinstance(found[0]["start_time"], datetime)
