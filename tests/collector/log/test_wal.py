"""The log's records: damage by a crash and by a bad disk differ, and no other record is lost."""

import os
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.log.acknowledged import AcknowledgedFile
from tracegrade_collector.log.wal import (
    Damage,
    DamageKind,
    Entry,
    Logged,
    read_record_headers,
    read_segment,
    record_header,
    segment_name,
)
from tracegrade_collector.log.wal_folder import WalFolder

ENTRIES = [
    Entry(1_000, Signal.TRACES, Encoding.PROTOBUF, "", False, b"first body", 2),
    Entry(2_000, Signal.LOGS, Encoding.JSON, "tenant", True, b"", 1),
    Entry(
        3_000, Signal.TRACES, Encoding.JSON, "", False, b"third body TGr2 with the magic in it", 3
    ),
]


def record(entry: Entry, seq: int) -> bytes:
    """Return the record of an entry."""
    return record_header(entry, seq) + entry.body


RECORDS = [record(entry, seq) for seq, entry in enumerate(ENTRIES, start=7)]
SEGMENT = b"".join(RECORDS)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[WalFolder]:
    """The claimed folder of a new collector."""
    with closing(WalFolder.claim(tmp_path)) as claimed:
        yield claimed


def good(content: bytes) -> list[tuple[int, Entry]]:
    """Return numbers and entries of the good records."""
    return [
        (each.seq, each.entry)
        for each in read_segment(BytesIO(content))
        if isinstance(each, Logged)
    ]


def damage(content: bytes) -> list[Damage]:
    """Return the damaged stretches."""
    return [each for each in read_segment(BytesIO(content)) if isinstance(each, Damage)]


def test_records_are_read_as_they_were_written() -> None:
    """All fields come back, in order."""
    assert good(SEGMENT) == list(enumerate(ENTRIES, start=7))
    assert damage(SEGMENT) == []


def test_unfinished_record_is_torn() -> None:
    """Wherever a write stopped, the records before it are good and the rest is torn."""
    whole = len(RECORDS[0] + RECORDS[1])
    for end in range(whole + 1, len(SEGMENT)):
        assert [seq for seq, _ in good(SEGMENT[:end])] == [7, 8]
        assert damage(SEGMENT[:end]) == [Damage(DamageKind.TORN, whole, end)]


def test_zeros_at_the_end_are_torn() -> None:
    """A file system may have grown the file without having its bytes."""
    assert damage(SEGMENT + bytes(512)) == [
        Damage(DamageKind.TORN, len(SEGMENT), len(SEGMENT) + 512)
    ]


def test_flipped_bit_costs_one_record() -> None:
    """For any changed bit of the first record, the later ones are read; the record is corrupt."""
    for place in range(len(RECORDS[0]) * 8):
        content = bytearray(SEGMENT)
        content[place // 8] ^= 1 << place % 8

        assert [seq for seq, _ in good(bytes(content))] == [8, 9]
        assert damage(bytes(content)) == [Damage(DamageKind.CORRUPT, 0, len(RECORDS[0]))]


def test_flipped_bit_in_the_last_record_is_never_taken_for_a_torn_tail() -> None:
    """Also not in its length or in the digit of its version: it was acknowledged."""
    start = len(SEGMENT) - len(RECORDS[2])
    for place in range(len(RECORDS[2]) * 8):
        content = bytearray(SEGMENT)
        content[start + place // 8] ^= 1 << place % 8

        assert [seq for seq, _ in good(bytes(content))] == [7, 8]
        assert damage(bytes(content)) == [Damage(DamageKind.CORRUPT, start, len(SEGMENT))]


def test_headers_tell_of_records_without_their_bodies() -> None:
    """A damaged body changes nothing; a damaged header costs one record."""
    content = bytearray(SEGMENT)
    content[len(RECORDS[0]) - 1] ^= 1
    content[len(RECORDS[0]) + 20] ^= 1

    found = [(each.seq, each.signal, each.items) for each in read_record_headers(BytesIO(content))]
    assert found == [(7, Signal.TRACES, 2), (9, Signal.TRACES, 3)]


def test_body_that_looks_like_a_record_is_not_read_as_one() -> None:
    """A hostile body holds a header that promises more bytes than there are."""
    hostile = record_header(ENTRIES[0]._replace(body=bytes(1000)), 99)
    content = bytearray(record(ENTRIES[0]._replace(body=hostile), 7) + RECORDS[1])
    content[10] ^= 1

    assert [seq for seq, _ in good(bytes(content))] == [8]


@pytest.mark.parametrize("is_finished", [True, False])
def test_record_in_a_body_is_not_read_as_one(folder: WalFolder, *, is_finished: bool) -> None:
    """A hostile body holds a whole record; the one around it is damaged, or was not finished."""
    hostile = record(ENTRIES[0], 99) + bytes(50)
    outer = record(ENTRIES[0]._replace(body=hostile), 7)
    damaged = outer[:-1] + b"\1"
    content = damaged + RECORDS[1] if is_finished else outer[:-1]
    (folder.path / segment_name(7)).write_bytes(content)

    assert [seq for seq, _ in good(content)] == ([8] if is_finished else [])
    assert [each.seq for each in read_record_headers(BytesIO(content))] == (
        [7, 8] if is_finished else []
    )
    assert folder.recover() == (9 if is_finished else 7)


def test_flipped_bit_in_the_last_record_is_not_cut(folder: WalFolder) -> None:
    """A whole record with a wrong checksum was acknowledged, so its bytes are kept."""
    content = bytearray(SEGMENT)
    content[-1] ^= 1
    (folder.path / segment_name(7)).write_bytes(content)
    folder.recover()

    assert (folder.path / segment_name(7)).read_bytes() == content
    assert damage(bytes(content))[0].kind is DamageKind.CORRUPT


@pytest.mark.parametrize("cut", [1, 20, len(RECORDS[2]) - 1])
def test_recovery_cuts_the_torn_tail(folder: WalFolder, cut: int) -> None:
    """The segment ends at the last good record, whose successor's number is next."""
    (folder.path / segment_name(7)).write_bytes(SEGMENT[:-cut])

    assert folder.recover() == 9
    assert (folder.path / segment_name(7)).read_bytes() == SEGMENT[: -len(RECORDS[2])]


def test_empty_segment_remembers_the_next_number(folder: WalFolder) -> None:
    """Everything has landed, but numbers go on where they were."""
    (folder.path / segment_name(42)).touch()

    assert folder.recover() == 42


def test_newest_segment_is_not_sealed(folder: WalFolder) -> None:
    """What may still grow is not landed."""
    for first in (1, 5, 9):
        (folder.path / segment_name(first)).touch()

    assert [segment.name for segment in folder.sealed_segments()] == [
        segment_name(1),
        segment_name(5),
    ]


def test_claimed_folder_is_not_claimed_again(tmp_path: Path) -> None:
    """A second collector gets an id of its own; a free one is used again."""
    first, second = WalFolder.claim(tmp_path), WalFolder.claim(tmp_path)
    first.close()
    third = WalFolder.claim(tmp_path)

    assert first.collector_id != second.collector_id
    assert third.collector_id == first.collector_id
    second.close()
    third.close()


def test_recovery_leaves_an_end_that_was_acknowledged(folder: WalFolder) -> None:
    """It is damage, which the lander counts; numbers go on after those that are lost."""
    content = SEGMENT[:-1]
    (folder.path / segment_name(7)).write_bytes(content)
    known = AcknowledgedFile(folder.path)
    known.begin(7, [7])
    known.add(len(SEGMENT), 10)
    known.close()

    assert folder.recover() == 10
    assert (folder.path / segment_name(7)).read_bytes() == content


def test_what_is_acknowledged_is_known_by_segment(folder: WalFolder) -> None:
    """Those that are gone are forgotten; an entry with a flipped bit is as none."""
    known = AcknowledgedFile(folder.path)
    for first in (1, 5, 9):
        known.begin(first, [5])
        known.add(first * 100, first + 3)
    known.close()
    path = folder.path / "acknowledged"

    assert folder.acknowledged() == {5: (5, 500, 8), 9: (9, 900, 12)}
    content = bytearray(path.read_bytes())
    content[len(content) // 2 + 3] ^= 1
    path.write_bytes(content)
    assert folder.acknowledged() == {5: (5, 500, 8)}


def test_an_acknowledged_file_that_cannot_be_written_stops_nothing(folder: WalFolder) -> None:
    """It only lags behind then."""
    (folder.path / "acknowledged").mkdir()
    known = AcknowledgedFile(folder.path)
    known.begin(1, [])
    known.add(100, 2)
    known.close()

    assert folder.acknowledged() == {}


def test_only_regular_files_with_a_segments_name_are_segments(folder: WalFolder) -> None:
    """Foreign entries are ignored; numbers in their names are not used."""
    (folder.path / segment_name(1)).touch()
    (folder.path / segment_name(2)).mkdir()
    (folder.path / segment_name(3)).symlink_to(segment_name(1))
    os.mkfifo(folder.path / segment_name(4))
    (folder.path / "garbage.wal").touch()

    assert [path.name for path in folder.segments()] == [segment_name(1)]
    assert folder.free_seq(1) == 1
    assert folder.free_seq(2) == 5
    assert [path.name for path in folder.foreign()] == [
        *map(segment_name, (2, 3, 4)),
        "garbage.wal",
    ]
