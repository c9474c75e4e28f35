"""A rollback journal: what its lines say, and that none of them does harm."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade.rollback.journal import append, parse
from tracegrade.rollback.undo import undo_fault


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal is to be; its folder is made with it."""
    return tmp_path / "folder" / "journal"


def test_torn_last_line_is_cut_off_by_the_next_entry(path: Path) -> None:
    """It came before what it was about, so nothing of it happened."""
    append(path, {"object": "a", "undo": {"delete": "a"}})
    with path.open("ab") as file:
        file.write(b'{"object": "b", "un')
    assert parse(path.read_bytes()).is_torn

    append(path, {"object": "c", "undo": {"delete": "c"}})

    read = parse(path.read_bytes())
    assert list(read.entries) == ["a", "c"]
    assert read.faults == []


def test_last_line_without_its_end_is_whole(path: Path) -> None:
    """As others write JSON Lines."""
    path.parent.mkdir()
    path.write_bytes(b'{"object": "a", "undo": {"delete": "a"}}')
    append(path, {"object": "c", "undo": {"delete": "c"}})

    assert list(parse(path.read_bytes()).entries) == ["a", "c"]


def test_later_line_updates_the_earlier() -> None:
    """`done` keeps the undo, a new undo makes the entry the newest, an invalid line nothing."""
    lines = [
        {"object": "a", "undo": {"delete": "a"}},
        {"object": "b", "undo": {"delete": "b"}},
        {"object": "a", "undo": {"manual": "look"}},
        {"object": "b", "done": True},
        {"object": "a", "undo": {"deletee": "a"}},
    ]
    read = parse(b"\n".join(json.dumps(line).encode() for line in lines) + b"\n")

    assert [entry.object for entry in read.entries.values()] == ["b", "a"]
    assert read.entries["b"].done
    assert read.entries["a"].undo == {"manual": "look"}
    assert [fault.line for fault in read.faults] == [5]


HOSTILE = [
    b"\xff\xfe{}",
    b"[]",
    b"null",
    b"{" * 100_000,
    b'{"object": ' + b"[" * 100_000,
    b'{"object": "a", "undo": {"delete": "a"}, "done": ' + b"9" * 5000 + b"}",
    b'{"object": "", "undo": {"delete": "a"}}',
    b'{"object": ["a"], "undo": {"delete": "a"}}',
    b'{"object": "\\ud800", "undo": {"delete": "a"}}',
    b'{"object": "a", "undo": {"delete": "\\u0000"}}',
    b'{"object": "a", "undo": {"delete": "."}}',
    b'{"object": "a", "undo": {"delete": "/"}}',
    b'{"object": "a", "undo": {"delete": "b/../.."}}',
    b'{"object": "a", "undo": {"delete": "a", "manual": "b"}}',
    b'{"object": "a", "undo": {"command": []}}',
    b'{"object": "a", "undo": {"command": "rm -rf /"}}',
    b'{"object": "a", "undo": {"sql": "DROP TABLE a"}}',
    b'{"object": "a", "undo": {}}',
    b'{"object": "a"}',
    b'{"object": "a", "undo": {"delete": "a"}, "done": "no"}',
    b'{"object": "' + b"a" * 2_000_000 + b'", "undo": {"delete": "a"}}',
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_invalid_line_says_nothing_and_spoils_no_other(line: bytes) -> None:
    """It is a fault with its line."""
    good = b'{"object": "good", "undo": {"delete": "x"}}\n'
    read = parse(good + line + b"\n")

    assert list(read.entries) == ["good"]
    assert [fault.line for fault in read.faults] == [2]


@given(st.binary(max_size=400))
def test_any_bytes_can_be_parsed(content: bytes) -> None:
    """None of them raises, and all that comes out is valid."""
    assert all(undo_fault(entry.undo) is None for entry in parse(content).entries.values())
