"""Building a part at a time gives the same rows as building everything at once."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.lake.stores import Store

from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeUnwritable
from tracegrade_queries.build import build as building
from tracegrade_queries.build import dialects_of_spans
from tracegrade_queries.build.build import BuildSummary, build
from tracegrade_queries.build.dialect_header import dialects
from tracegrade_queries.engine.executor import Executor
from tracegrade_queries.schema import STEPS, TRAJECTORIES

from . import traces
from .executors import EXECUTORS, Backwards
from .traces import (
    Row,
    agent,
    capture,
    land,
    land_logs,
    logs_of,
    message,
    model,
    request,
    request_of,
    rows,
    story,
    tool,
)

CAPTURES = ("langgraph_otel", "langgraph_openinference", "openai-agents_both_siblings")


def contents(lake: Lake) -> list[list[Row]]:
    """Return all rows of both tables in a fixed order."""
    return [
        rows(lake, f"SELECT * FROM {table.name} ORDER BY trajectory_id, {order}")
        for table, order in ((STEPS, "step_index"), (TRAJECTORIES, "trace_id"))
    ]


class Built(NamedTuple):
    """Captures that were built once."""

    lake: Lake
    told: BuildSummary
    rows: list[list[Row]]

    def copied(self, folder: Path) -> Lake:
        """Return a copy of the lake."""
        return Lake.open(shutil.copytree(self.lake.root, folder / "copy"))


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A single capture, built; a test that changes anything uses a copy."""
    lake = Lake.create(tmp_path_factory.mktemp("one") / "lake")
    land(lake, capture(CAPTURES[0]))
    return Built(lake, build(lake), contents(lake))


def test_second_build_finds_nothing(one: Built) -> None:
    """What was built is not built again."""
    assert one.told.new_spans == 4
    assert build(one.lake)[:4] == (0, 0, 0, 0)


def test_incremental_build_equals_full_build(
    one: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Builds after each landing, and a full one in buckets in any order, give the same rows."""
    lake = one.copied(tmp_path)
    for number, name in enumerate(CAPTURES[1:], 2):
        land(lake, capture(name), seq=number, day=number // 2)
        build(lake)
    piecewise = contents(lake)
    monkeypatch.setattr(building, "BUCKET_SPANS", 5)
    summary = build(lake, full=True, executor=Backwards())

    assert contents(lake) == piecewise
    assert summary.traces == 3
    assert summary.steps == len(piecewise[0])


@pytest.mark.slow
def test_full_build_makes_lost_rows_again(one: Built, tmp_path: Path) -> None:
    """Though it builds no more than the build before, it is not taken for that one."""
    lake = one.copied(tmp_path)
    for table in (STEPS, TRAJECTORIES):
        lake.replace(table, table.arrow().empty_table())
    build(lake, full=True)

    assert contents(lake) == one.rows


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """All CAPTURES, built at once; a second build finds the same rows, or fails."""
    lake = Lake.create(tmp_path_factory.mktemp("at-once") / "lake")
    land(lake, *map(capture, CAPTURES))
    return Built(lake, build(lake), contents(lake))


@pytest.mark.slow
def test_same_lake_gives_the_same_rows(at_once: Built) -> None:
    """Two full builds of one lake agree in every value."""
    build(at_once.lake, full=True)

    assert contents(at_once.lake) == at_once.rows


@pytest.mark.slow
def test_buckets_give_the_same_rows(at_once: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build in many buckets gives the same rows as one in a single bucket."""
    monkeypatch.setattr(building, "BUCKET_SPANS", 5)
    build(at_once.lake, full=True)

    assert contents(at_once.lake) == at_once.rows


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda each: type(each).__name__)
def test_buckets_may_be_built_anywhere(
    at_once: Built, monkeypatch: pytest.MonkeyPatch, executor: Executor
) -> None:
    """In any order, twice, or in a process of their own they give the same rows."""
    monkeypatch.setattr(building, "BUCKET_SPANS", 5)

    assert build(at_once.lake, full=True, executor=executor)[1:] == at_once.told[1:]
    assert contents(at_once.lake) == at_once.rows


@pytest.mark.slow
def test_buckets_of_an_object_store_give_the_same_rows(
    lake: Lake, either_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are built side by side there as well, from copies of the files of their time."""
    monkeypatch.setattr(building, "BUCKET_SPANS", 5)
    stored = Lake.create(either_store.url("several-buckets"), tmp_path / "state")
    for each in (lake, stored):
        for number, name in enumerate(CAPTURES, 1):
            land(each, capture(name), seq=number, day=number)
        build(each)

    assert contents(stored) == contents(lake)


@pytest.mark.slow
def test_marks_hide_no_span_that_its_dialect_knows(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dialects that are shown the spans with their marks say what they say of all spans."""
    names = traces.captures()
    land(lake, *map(capture, names))
    land_logs(lake, *(log for name in names for log in logs_of(name)))
    build(lake)
    of_their_own = contents(lake)
    seeing_all = tuple(each._replace(marks=("",) * bool(each.marks)) for each in dialects())
    monkeypatch.setattr(dialects_of_spans, "dialects", lambda: seeing_all)
    build(lake, full=True)

    assert contents(lake) == of_their_own


@pytest.mark.slow
def test_trace_that_arrives_over_three_days_is_one_run(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root, model and tool span on three days, in any order, beside traces of one day each."""
    monkeypatch.setattr(building, "BUCKET_SPANS", 2)
    orders = {1: (0, 1, 2), 2: (2, 1, 0), 3: (1, 2, 0)}
    said = [message("assistant", request("t", "1", x=1))]
    call: dict[str, Any] = {"at": 2, "gen_ai__tool__call__id": "1"}

    def parts(trace: int) -> list[Row]:
        asked = model(2, 1, trace=trace, at=1, said=said)
        return [agent(1, trace=trace), asked, tool(3, 1, trace=trace, **call)]

    for day in range(3):
        late = [parts(trace)[order[day]] for trace, order in orders.items()]
        other = [agent(8, trace=9 - day), tool(9, 8, trace=9 - day, at=1)]
        land(lake, request_of([*late, *other]), seq=day + 1, day=day)
        build(lake)
    piecewise = contents(lake)
    build(lake, full=True)

    assert contents(lake) == piecewise
    found = "SELECT root_span_id, tool_call_count, date::VARCHAR AS day FROM trajectories"
    assert (
        rows(lake, f"{found} WHERE trace_id[-1]::INT <= 3")
        == [{"root_span_id": f"{1:016x}", "tool_call_count": 1, "day": "2026-09-21"}] * 3
    )
    assert len(piecewise[1]) == 6


def test_late_span_rebuilds_its_trace_on_its_first_date(lake: Lake) -> None:
    """A root that arrives a day later turns the rows of its trace into a run, and no other row."""
    others = request_of([agent(7, trace=2), tool(8, 7, trace=2, at=1)])
    land(lake, request_of([tool(2, 1, at=1)]), others, seq=1)
    build(lake)
    land(lake, request_of([agent(1)]), seq=3, day=1)

    assert build(lake)[:4] == (1, 1, 1, 1)
    days = rows(lake, "SELECT root_span_id[-1] AS root, date::VARCHAR AS day FROM trajectories")
    assert sorted((row["root"], row["day"]) for row in days) == [
        ("1", "2026-09-21"),
        ("7", "2026-09-21"),
    ]
    assert story(lake) == ["tool_call t ok", "tool_call t ok"]


def test_each_collector_has_its_own_watermark(one: Built, tmp_path: Path) -> None:
    """Spans of a second collector with equal numbers are new all the same."""
    lake = one.copied(tmp_path)
    land(lake, request_of([agent(1), tool(2, 1, at=1)]), collector="b")

    assert build(lake)[:4] == (2, 1, 1, 1)


def test_log_records_that_land_late_make_their_trace_new(lake: Lake) -> None:
    """Messages in log records change the steps of a trace that was built without them."""
    land(lake, capture("otel-events_openai-v2"), seq=5)
    build(lake)
    assert story(lake) == []
    land_logs(lake, *logs_of("otel-events_openai-v2"), seq=2)

    assert build(lake).new_spans == 8
    assert [step.split()[0] for step in story(lake)] == ["tool_call", "observation", "answer"]
    assert build(lake)[:4] == (0, 0, 0, 0)


def test_failure_between_the_commits_repeats_the_work(lake: Lake, one: Built) -> None:
    """If only the steps were written, the next build writes both tables, and no row twice."""
    land(lake, capture(CAPTURES[0]))
    in_the_way = lake.root / TRAJECTORIES.name / "_delta_log"
    in_the_way.parent.mkdir()
    in_the_way.touch()
    with pytest.raises(LakeUnwritable, match=TRAJECTORIES.name):
        build(lake)
    assert len(story(lake)) == len(one.rows[0])
    in_the_way.unlink()
    build(lake)

    assert contents(lake) == one.rows


def test_span_sent_again_with_its_end_counts_as_last_received(lake: Lake) -> None:
    """An exporter that sends a span at its start and at its end tells one call, the ended one."""
    started = tool(2, 1, at=1, ms=0)
    ended = tool(2, 1, at=1, ms=9, gen_ai__tool__call__result="r")
    land(lake, request_of([agent(1), started]), request_of([ended, ended]))
    build(lake)

    assert story(lake) == ["tool_call t ok", "observation r"]
