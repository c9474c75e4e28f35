"""Jobs that die, or meet another one on the same lake: no reader sees half of their work."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.lake.lake_rows import age_log
from tests.queries.traces import land, request_of, tool
from tests.scoring.build import specification
from tests.slow import slow_after

from tracegrade_lake import Lake
from tracegrade_lake.crash_points import EXIT_CODE, VARIABLE
from tracegrade_lake.log_copies import MOST_ENTRIES
from tracegrade_lake.maintenance.replaced_files import NOTE_NAME, replaced_files
from tracegrade_scoring.errors import ScoringBusy
from tracegrade_scoring.job.discovery import TraceFilter
from tracegrade_scoring.job.replaced import MADE_AGAIN
from tracegrade_scoring.job.run_scoring import _alone, score
from tracegrade_scoring.job.summary import fault_lines
from tracegrade_scoring.schema import SCORE_TABLES
from tracegrade_scoring.tasks import Specification

from .lakes import TASKS, copied, run, tables, tracegrade_score


def test_scoring_is_for_one_at_a_time(lake: Lake, spec: Specification) -> None:
    """A second job on the same lake ends with an error instead of mixing its rows in."""
    with _alone(lake, wait=False), pytest.raises(ScoringBusy, match="another job is scoring"):
        score(lake, spec)


def test_command_leaves_a_lake_to_the_job_that_scores_it(lake: Lake) -> None:
    """A second `tracegrade score` does nothing, and line, exit code and summary say so."""
    with _alone(lake, wait=False):
        done = tracegrade("score", "--lake", lake.root, "--summary", "-")

    (line,) = done.stderr.splitlines()
    assert done.returncode == 3
    assert f"another job is scoring the lake at {lake.location}, so nothing was done" in line
    assert "--wait" in line
    assert json.loads(done.stdout)["busy"] is True
    assert lake.tables() == []


@pytest.fixture(scope="module")
def before_and_after(
    scored_pair: Lake, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """The rows of the pair, and those after more has come that is scored with all the rest."""
    lake = copied(scored_pair, tmp_path_factory.mktemp("after"))
    before = tables(lake)
    more_comes(lake)
    score(lake, specification(TASKS), full=True)
    return before, tables(lake)


def more_comes(lake: Lake) -> None:
    """Land a third run, and a late span of the first."""
    late = request_of([tool(9, 1, tool_name="pay", trace=1, at=9)])
    land(lake, run(3, "look"), late, seq=3, day=1)


@pytest.mark.parametrize(
    "point",
    slow_after(
        1,
        [
            "scores_committed:4",
            "rows_left_out:1",
            "scores_staged",
            "rows_left_out:3",
            "rows_joined:7",
            "scores_committed:1",
            "scores_committed:5",
        ],
    ),
)
def test_killed_run_is_not_seen_and_the_next_one_puts_it_right(
    pair: Lake,
    before_and_after: tuple[dict[str, list[Any]], dict[str, list[Any]]],
    tmp_path: Path,
    point: str,
) -> None:
    """Wherever a process dies, readers see the run before, and the next run ends as one would."""
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    spec = specification(TASKS)
    before, after = before_and_after
    more_comes(pair)

    given = ["--tasks", str(tmp_path / "tasks.yaml")]
    died = tracegrade_score(pair, *given, **{VARIABLE: point})
    assert died.returncode == EXIT_CODE
    assert tables(pair) == before

    # A run that does not even touch what the dead one wrote.
    score(pair, spec, chosen=TraceFilter(agent_name="nobody"))
    assert tables(pair) == before
    score(pair, spec)
    assert tables(pair) == after != before


@pytest.mark.parametrize(
    ("table", "content"), slow_after(2, [
        (table.name, content) for content in (b"", b"{") for table in SCORE_TABLES
    ]),
)  # fmt: skip
def test_a_damaged_newest_commit_of_scores_is_made_up_for(
    pair: Lake, spec: Specification, table: str, content: bytes
) -> None:
    """All is scored again though nothing new has come, and the scores are those of before."""
    land(pair, run(3, "look"), seq=3, day=1)
    score(pair, spec)
    before = tables(pair)
    max((pair.root / table / "_delta_log").glob("*.json")).write_bytes(content)
    if content:  # such a log cannot even be read
        assert tracegrade("lake", "repair", "--lake", pair.root).returncode == 0
    score(pair, spec)

    assert tables(pair) == before


@pytest.fixture
def with_old_files(scored_pair: Lake, tmp_path: Path) -> Lake:
    """A copy of the pair, scored again, with files that were replaced a day ago."""
    lake = copied(scored_pair, tmp_path)
    score(lake, specification(TASKS), full=True)
    age_removals(lake)
    return lake


def age_removals(lake: Lake) -> None:
    """Let all files have left their tables 25 hours ago, and be looked for now."""
    age_log(lake, days=1.1, table="*")
    (lake.root / NOTE_NAME).write_text('{"looked_at": 0}')


def replaced(lake: Lake) -> set[str]:
    """Return the files of all tables that are stored and in no newest version."""
    return {
        f"{name}/{file.path}"
        for name in MADE_AGAIN.intersection(lake.tables())
        for file in replaced_files(lake, name, keep_hours=1)
    }


@pytest.mark.parametrize(
    "point", slow_after(1, ["replaced_removed:3", "replaced_removed:4", "replaced_removed:9"])
)
def test_run_killed_while_it_removes_replaced_files_has_scored(
    with_old_files: Lake, tmp_path: Path, point: str
) -> None:
    """Its scores are seen, all tables are read, and the next run removes what is left."""
    lake = with_old_files
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    given = ["--tasks", str(tmp_path / "tasks.yaml"), "--full"]
    old, before = replaced(lake), tables(lake)

    assert tracegrade_score(lake, *given, **{VARIABLE: point}).returncode == EXIT_CODE
    left = replaced(lake) & old
    assert tables(lake) == before
    assert old > left > set()
    done = tracegrade_score(lake, *given)
    assert f"removed {len(left)} files that earlier runs replaced" in done.stderr
    assert replaced(lake) & old == set()
    assert tables(lake) == before


def test_a_run_names_what_keeps_it_from_removing_files(pair: Lake, spec: Specification) -> None:
    """It has scored, so it does not fail."""
    (pair.root / NOTE_NAME).unlink()
    (pair.root / NOTE_NAME).mkdir()
    done = score(pair, spec, full=True)

    assert done.trajectories == 2
    (line,) = fault_lines(done)
    assert line.startswith("files that earlier runs replaced, or old entries of logs, were not ")


def test_a_run_keeps_logs_short(pair: Lake, spec: Specification) -> None:
    """What other jobs and a collector committed is noted in checkpoints, and read as before."""
    for number in range(3, 4 + MOST_ENTRIES):
        land(pair, run(number, "look"), seq=number, day=1)
    assert pair.storage.table("raw_spans").entries_to_read() > MOST_ENTRIES
    score(pair, spec)

    to_read = {name: pair.storage.table(name).entries_to_read() for name in pair.tables()}
    assert max(to_read.values()) <= MOST_ENTRIES
    assert to_read["raw_spans"] == 0
    assert len(tables(pair)["trajectory_scores"]) == 3 + MOST_ENTRIES
    assert score(pair, spec).trajectories == 0
