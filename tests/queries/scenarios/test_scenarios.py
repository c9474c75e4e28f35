"""Every framework tells the story of every scenario, under each instrumentation of it."""

import json
import lzma
import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from tests.frameworks.captures import capture_file
from tests.frameworks.fake_model import SCENARIOS
from tests.frameworks.ways import WAYS, Way
from tests.queries.traces import land, land_logs, rows

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .comparison import Cell, captures, compare, facts_of_story, facts_told
from .differences import DIFFERENCES

PAGE = Path(__file__).parents[3] / "docs" / "internals" / "framework-matrix.md"
TABLE_START = "<!-- scenarios by frameworks: written by test_scenarios.py -->\n"
TABLE_END = "<!-- end of scenarios -->\n"


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Cell]:
    """What each capture tells beside its story, by its name; all landed and built at once."""
    lake = Lake.create(tmp_path_factory.mktemp("scenarios") / "lake")
    land(lake, *(json.dumps(each.signals["traces"]).encode() for each in captures()), seq=0)
    logs = [each.signals["logs"] for each in captures() if "logs" in each.signals]
    land_logs(lake, *(json.dumps(each).encode() for each in logs))
    build(lake)
    traces = rows(lake, "SELECT wal_seq, list(DISTINCT trace_id) AS ids FROM spans GROUP BY 1")
    ids = {row["wal_seq"]: set(row["ids"]) for row in traces}
    numbers = {trace: number for number, traces in ids.items() for trace in traces}
    runs, steps = defaultdict(list), defaultdict(list)
    for run in rows(lake, "SELECT * FROM trajectories ORDER BY start_time, trajectory_id"):
        runs[numbers.get(run["trace_id"])].append(run)
    for step in rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index"):
        steps[numbers.get(step["trace_id"])].append(step)
    return {
        each.name: compare(each, facts_told(runs[number], steps[number]))
        for number, each in enumerate(captures())
    }


def _told(way: Way, scenario: str, cells: dict[str, Cell]) -> str:
    if scenario in way.left_out:
        return f"{way.left_out[scenario]}"
    if scenario in way.silent:
        return "not sent: anything"
    return str(cells[f"{way}-{scenario}"])


def _table(cells: dict[str, Cell]) -> str:
    names = list(SCENARIOS)
    lines = [
        f"| framework and instrumentation | {' | '.join(map(str, range(1, len(names) + 1)))} |",
        f"|---|{'---|' * len(names)}",
    ]
    notes: dict[str, int] = {}
    for way in WAYS:
        row = [_mark(_told(way, name, cells), notes) for name in names]
        lines.append(f"| {way} | {' | '.join(row)} |")
    scenarios = [f"{n}. {SCENARIOS[name]['tells']}" for n, name in enumerate(names, 1)]
    footnotes = [f"- {number}: {told}" for told, number in notes.items()]
    return "\n".join([*scenarios, "", *lines, "", *footnotes]) + "\n"


def _mark(told: str, notes: dict[str, int]) -> str:
    """Return what stands in a cell: a word, and the number of its note."""
    if told in ("right", "**wrong**"):
        return told
    words = {"right": "right", "not sent": "partly"}
    word = next((words[start] for start in words if told.startswith(start)), "n/a")
    return f"{word} ({notes.setdefault(told, len(notes) + 1)})"


@pytest.mark.slow
def test_page_shows_the_matrix(cells: dict[str, Cell]) -> None:
    """The matrix of the page is made from the captures; WRITE_TABLE=1 writes it anew."""
    before, rest = PAGE.read_text("utf-8").split(TABLE_START)
    table, after = rest.split(TABLE_END, 1)
    if os.environ.get("WRITE_TABLE"):
        PAGE.write_text(before + TABLE_START + _table(cells) + TABLE_END + after, "utf-8")
        return
    assert table == _table(cells)


def test_difference_that_is_known_is_found(cells: dict[str, Cell]) -> None:
    """A difference that nothing shows any more is to be taken out."""
    noted = {note for cell in cells.values() for note in [*cell.otherwise, *cell.not_sent]}
    assert {each.why for each in DIFFERENCES} <= noted


def test_fault_is_seen(cells: dict[str, Cell]) -> None:
    """A call that is missing, one too many and another agent's name are faults of a capture."""
    capture = next(each for each in captures() if each.name == "pydantic_ai_agent_v5-three_calls")
    (story,) = facts_of_story(capture)
    calls = [place for place, fact in enumerate(story) if fact.startswith("tool_call")]
    one_less = [fact for place, fact in enumerate(story) if place != calls[0]]
    one_more = [*story[: calls[0]], story[calls[0]], *story[calls[0] :]]
    renamed = ["agent other", *story[1:]]

    assert compare(capture, [story]) == Cell([], [], [])
    assert compare(capture, [one_less]).wrong == [f"- {story[calls[0]]}"]
    assert compare(capture, [one_more]).wrong == [f"+ {story[calls[0]]}"]
    assert compare(capture, [renamed]).wrong == ["- agent travel_agent", "+ agent other"]
    assert compare(capture, [story, story]).wrong == ["2 runs instead of 1"]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_captures_tell_the_story(cells: dict[str, Cell], way: Way) -> None:
    """Each way's record of each scenario is exact, without additions."""
    sent = {each.name for each in captures() if each.way == way}

    assert {name: cells[name].wrong for name in sent if cells[name].wrong} == {}


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_capture_tells_no_folder_of_a_machine(way: Way) -> None:
    """Tracebacks name files; only paths below the project and Python are kept."""
    text = lzma.decompress(capture_file(way).read_bytes()).decode()

    assert re.findall(r"/(?:home|root|Users|work|tmp)/[^\"\\]{1,60}", text) == []
