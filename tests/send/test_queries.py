"""The headers of the queries that choose scores to send are true."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.queries.traces import (
    DAY_NS,
    NOON_NS,
    land,
    message,
    model,
    request_of,
)
from tests.scoring.job.lakes import TASKS, run
from tests.send.peers import Peer
from tests.send.test_send import send

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification
from tracegrade_send.scores import ScoredLake, ScoreSelection, ScoreToSend
from tracegrade_send.sql import QUERIES

PARAMETERS = {
    "destination": "0" * 12,
    "lake_id": "lake",
    "muted": [],
    "empty_ones": True,
    "refused_again": False,
}
ALL = ScoreSelection(
    ("tsa", "success"),
    all_scores=True,
    evidence=True,
    issues=True,
    conversations=True,
    responses=True,
)


def rootless(number: int, *responses: str) -> bytes:
    """Return a run whose root never came, with a model call for each response."""
    calls = [
        model(position, 1, trace=number, at=position, gen_ai__response__id=name,
              said=[message("assistant", f"Answer {position}.")])
        for position, name in enumerate(responses, start=2)
    ]  # fmt: skip
    return request_of(calls)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with steps, issues and conversations, and runs without a root."""
    folder = tmp_path_factory.mktemp("queries")
    lake = Lake.create(folder / "lake")
    both = {"gen_ai__conversation__id": "c-1"}
    land(lake, run(1, "look", "pay", **both), run(2, "pay", **both))
    land(lake, rootless(3, "r-3"), rootless(4, "r-4"), rootless(5, "r-5", "r-6"), seq=3)
    (folder / "tasks.yaml").write_text(f"version: 1\n{TASKS}")
    score(lake, usable_specification(folder / "tasks.yaml")[0], now_ns=NOON_NS + 2 * DAY_NS)
    return lake


@pytest.fixture(scope="module")
def scored(lake: Lake) -> Iterator[ScoredLake]:
    """The lake, opened to send all of it."""
    found = ScoredLake(lake)
    with found.chosen(ALL, is_new=False):
        yield found


@pytest.mark.parametrize("path", QUERIES.paths.values(), ids=lambda path: path.stem)
def test_header_is_true(scored: ScoredLake, path: Path) -> None:
    """It names what is read, the parameters, the columns with their types and a total order."""
    sql = path.read_text(encoding="utf-8")
    found = header(sql)
    parameters = {
        name: value for name, value in PARAMETERS.items() if f"${name}" in parameters_used(sql)
    }
    result = scored.con.sql(bare(sql), params=parameters)
    rows, names = result.fetchall(), result.columns

    assert found.columns == columns_of(result)
    assert found.parameters == parameters_used(sql)
    assert found.reads == relations_read(sql)
    keys = [
        tuple(str(row[names.index(name)]) for name in found.order if name in names) for row in rows
    ]
    assert found.order == ["none"] or len({*keys}) == len(keys) > 1


def test_a_run_without_a_root_names_its_only_response(lake: Lake, server: Peer) -> None:
    """Evaluations of others have a span, or nothing but the trace."""
    ended = send(lake, server, "otlp", "--metric", "success", "--all")
    found = {}
    for record in server.records:
        texts = {each.key: each.value.string_value for each in record.attributes}
        found[record.trace_id.hex()[-1]] = (bool(record.span_id), texts.get("gen_ai.response.id"))

    assert ended.returncode == 0, ended.stderr
    assert found == {
        "1": (True, None),
        "2": (True, None),
        "3": (False, "r-3"),
        "4": (False, "r-4"),
        "5": (False, None),
    }


def test_rows_are_scores() -> None:
    """Their columns are the fields of the class, in their order."""
    assert tuple(name for name, _ in header(QUERIES.text("scores_to_send")).columns) == (
        ScoreToSend._fields
    )
