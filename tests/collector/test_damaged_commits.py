"""Damage to the newest commits of the raw tables: `verify` finds it, `repair` loses no row.

No collector lands these rows again: they were reported, and are no longer in a log.
"""

import json
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.slow import slow_after
from tests.waiting import wait_until

from tracegrade_collector.importing.importer import import_files
from tracegrade_collector.maintenance.repair import Repaired, repair
from tracegrade_collector.maintenance.verify import VerificationReport, verify
from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeError

from .running import collecting, landed, landed_ids, log_body, trace_body

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda _: b"",
    "cut": lambda content: content[: len(content) // 2],
    "cut between lines": lambda content: content.splitlines(keepends=True)[0],
    "zeros": lambda content: bytes(len(content)),
    "garbage": lambda content: b"\xff" * len(content),
    "another action": lambda _: b'{"add": 7}\n',
    "a path that climbs": lambda content: content.replace(b"date=", b"..%2fdate="),
}


def has_landed(lake: Path, requests: int) -> bool:
    """Return whether so many requests of two spans, and as many log records, have landed."""
    counts = (landed(lake).num_rows, landed(lake, "raw_logs").num_rows)
    return counts == (2 * requests, requests)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake whose collector landed spans 1 to 6 and three log records, in three commits each."""
    lake = tmp_path_factory.mktemp("damaged") / "lake"
    with collecting(lake, max_segment_age_secs=0.05, land_every_secs=0.05) as collector:
        for number in (1, 2, 3):
            collector.post("/v1/traces", trace_body(2 * number - 1, 2 * number))
            collector.post("/v1/logs", log_body(str(number)))
            wait_until(partial(has_landed, lake, number))
        assert collector.stop() == 0
    return lake


@pytest.fixture
def lake(whole: Path, tmp_path: Path) -> Path:
    """A copy of that lake, to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "lake"))


def newest(lake: Path, table: str = "raw_spans", *, before: int = 0) -> Path:
    """Return the newest entry of a table's log, or one so many before it."""
    return sorted((lake / table / "_delta_log").glob("*.json"))[-1 - before]


def silent(_: str) -> None:
    """Take no note."""


def checked(lake: Path) -> VerificationReport:
    """Return what `verify` finds."""
    return verify(Lake.open(lake), silent)


def repaired(lake: Path) -> Repaired:
    """Repair after a dry run, which has to promise the same."""
    opened = Lake.open(lake)
    promised = repair(opened, silent, dry_run=True)
    assert repair(opened, silent) == promised
    return promised


@pytest.mark.parametrize("table", ["raw_spans", "raw_logs"])
@pytest.mark.parametrize("damage", slow_after(3, DAMAGES.values()), ids=DAMAGES)
def test_rows_of_a_damaged_newest_commit_come_back(
    lake: Path, damage: Callable[[bytes], bytes], table: str
) -> None:
    """For both tables and any damage to the entry: no row is lost, and the account is right."""
    before = [vars(line) for line in checked(lake).lines]
    newest(lake, table).write_bytes(damage(newest(lake, table).read_bytes()))
    assert any("repair`" in line and table in line for line in checked(lake).wrong)

    done = repaired(lake)
    assert (done.logs_rebuilt, done.rows_lost) == (1, 0)
    found = checked(lake)
    assert found.wrong == []
    assert [vars(line) for line in found.lines] == before
    assert sorted(landed_ids(lake)) == [1, 2, 3, 4, 5, 6]
    assert sorted(landed(lake, "raw_logs")["body"].to_pylist()) == ["1", "2", "3"]


def test_rows_of_several_damaged_commits_come_back(lake: Path) -> None:
    """The two newest entries; a collector goes on after the repair where it was."""
    for before in (0, 1):
        newest(lake, before=before).write_bytes(b"")
    assert checked(lake).wrong != []
    assert repaired(lake).rows_lost == 0

    with collecting(lake) as collector:
        collector.post("/v1/traces", trace_body(7))
        assert collector.stop() == 0
    assert sorted(landed_ids(lake)) == [1, 2, 3, 4, 5, 6, 7]
    assert checked(lake).wrong == []


def test_what_was_erased_does_not_come_back_with_a_damaged_commit(lake: Path) -> None:
    """The newest entry is that of the erasure."""
    trace_ids = landed(lake)["trace_id"].to_pylist()
    erased = tracegrade("lake", "delete", "--trace", trace_ids[0], "--lake", lake)
    assert erased.returncode == 0, erased.stderr
    left = sorted(landed_ids(lake))
    newest(lake).write_bytes(b"")
    assert checked(lake).wrong != []

    repaired(lake)
    assert sorted(landed_ids(lake)) == left
    assert checked(lake).wrong == []


@pytest.mark.parametrize("damage", slow_after(1, DAMAGES.values()), ids=DAMAGES)
def test_imported_rows_of_a_damaged_newest_commit_come_back(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    """No log and no ledger knows of them; the files do, and `verify` counts them."""
    lake = Lake.create(tmp_path / "lake")
    for span_id in (1, 2):
        file = tmp_path / f"{span_id}.pb"
        file.write_bytes(trace_body(span_id))
        import_files(lake, [file], silent)
    newest(lake.root).write_bytes(damage(newest(lake.root).read_bytes()))
    assert checked(lake.root).wrong != []

    assert repaired(lake.root).rows_lost == 0
    found = checked(lake.root)
    assert sorted(landed_ids(lake.root)) == [1, 2]
    assert found.wrong == []
    assert "raw_spans: 2 rows were imported, 0 of them removed" in found.notes
    file = tmp_path / "3.pb"
    file.write_bytes(trace_body(3))
    import_files(lake, [file], silent)
    assert checked(lake.root).wrong == []


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return a log entry with some bytes, members or lines of it changed."""
    lines = content.splitlines()
    place = chance.randrange(len(lines))
    choice = chance.randrange(6)
    if choice == 0:
        bits = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            bits[chance.randrange(len(bits))] ^= 1 << chance.randrange(8)
        return bytes(bits)
    if choice == 1:
        return content[: chance.randrange(len(content))]
    if choice == 2:
        return b"\n".join(chance.sample(lines, chance.randint(0, len(lines))))
    action = json.loads(lines[place])
    (kind, members), *_ = action.items()
    member = chance.choice(sorted(members)) if members else ""
    strange: Any = chance.choice(
        ["../../x", "/etc/passwd", "file:///etc/passwd", -1, 2**70, None, [], {}]
    )
    members[member] = strange
    if choice == 3:
        members = strange
    lines[place] = json.dumps({kind: members}).encode()
    return b"\n".join(lines)


def test_no_entry_whatever_it_says_ends_a_command_with_a_traceback(lake: Path) -> None:
    """Seeded changes to entries of both tables: errors are ours, and files of the lake are read.

    After a repair the lake can be read, and holds what the files hold.
    """
    chance = random.Random(32)  # noqa: S311 - no secret
    opened = Lake.open(lake)
    entries = [newest(lake, table, before=1) for table in ("raw_spans", "raw_logs")]
    entries += [newest(lake, table) for table in ("raw_spans", "raw_logs")]
    whole = {entry: entry.read_bytes() for entry in entries}
    for _ in range(60):
        entry = chance.choice(entries)
        entry.write_bytes(mutated(whole[entry], chance))
        table = entry.parent.parent.name
        try:
            assert all(Path(path).is_relative_to(lake) for path in opened.files(table))
            opened.dataset(table)
        except LakeError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017 - most say nothing
        checked(lake)
        repair(opened, silent, dry_run=True)
        entry.write_bytes(whole[entry])
    assert checked(lake).wrong == []
