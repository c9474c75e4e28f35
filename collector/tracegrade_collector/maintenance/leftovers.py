"""Finds and removes a trace's data outside the tables: quarantine, dead letters, spilled data.

Quarantined bytes cannot be decoded, so a trace is found in them by its id. It is 16 bytes after
protobuf's length, or 32 hex digits in any case.
"""

import re
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Final

from tracegrade_collector.land.dead_letters import FOLDER as DEAD_LETTERS
from tracegrade_collector.land.quarantine import FOLDER as QUARANTINE
from tracegrade_collector.log.wal import SUFFIX, Damage, read_segment
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_lake.files import all_below, is_older, sync_folder, write_whole

SPILL_FOLDERS: Final = ("_spill", "spill")
_RAW_ID: Final = re.compile(rb"(?s)\x10(?=(.{16}))")
_HEX_ID: Final = re.compile(rb"(?=([0-9a-fA-F]{32}))")


def names_trace(content: bytes, trace_ids: Set[str]) -> bool:
    """Return whether the bytes contain one of the ids (lower hex)."""
    return any(match[1].hex() in trace_ids for match in _RAW_ID.finditer(content)) or any(
        match[1].decode().lower() in trace_ids for match in _HEX_ID.finditer(content)
    )


def quarantined(state: Path, trace_ids: Set[str]) -> list[Path]:
    """Return the quarantined files that hold data of the traces.

    Pieces of one damaged segment belong together: an item can begin in one and continue in the
    next.
    """
    files = [path for path in sorted((state / QUARANTINE).glob("*")) if path.is_file()]
    found = {path for path in files if names_trace(_content(path), trace_ids)}
    segments = {_segment(path) for path in found if path.suffix == SUFFIX}
    return [path for path in files if path in found or _segment(path) in segments]


def _segment(piece: Path) -> str:
    return piece.name.rpartition("-")[0] if piece.suffix == SUFFIX else ""


def dead_letters(state: Path, trace_ids: Set[str]) -> Iterator[tuple[Path, int]]:
    """Yield each file of dead letters that has some of the traces, and how many."""
    for path in sorted((state / DEAD_LETTERS).glob("*")):
        count = sum(names_trace(line, trace_ids) for line in _lines(path))
        if count:
            yield path, count


def remove_letters(path: Path, trace_ids: Set[str]) -> None:
    """Rewrite a file of dead letters without those of the traces, or remove it."""
    others = [line for line in _lines(path) if not names_trace(line, trace_ids)]
    if others:
        write_whole(path, b"".join(others))
    else:
        remove_files([path])


def remove_files(paths: list[Path]) -> None:
    """Remove files durably: the removal survives a power cut."""
    for path in paths:
        path.unlink(missing_ok=True)
    for folder in {path.parent for path in paths}:
        sync_folder(folder)


def spilled(state: Path, before_ns: int) -> list[Path]:
    """Return files of intermediate data that are older: queries that were killed left them."""
    return [
        path
        for folder in SPILL_FOLDERS
        for path in sorted(all_below(state / folder))
        if path.is_file() and is_older(path, before_ns)
    ]


def pending_requests(state: Path, trace_ids: Set[str]) -> int:
    """Return how many requests in the log, not landed yet, hold something of the traces."""
    segments = (
        segment for path in WalFolder.all_in(state) for segment in WalFolder(path).segments()
    )
    return sum(_count_requests(segment, trace_ids) for segment in segments)


def _count_requests(segment: Path, trace_ids: Set[str]) -> int:
    try:
        with open(segment, "rb") as file:
            return sum(
                names_trace(found.entry.body, trace_ids)
                for found in read_segment(file)
                if not isinstance(found, Damage)
            )
    except FileNotFoundError:  # it has landed
        return 0


def letters_by_collector(state: Path) -> Counter[str]:
    """Return how many dead letters there are of each collector."""
    counts: Counter[str] = Counter()
    for path in (state / DEAD_LETTERS).glob("[!.]*"):
        counts[collector_of(path)] += sum(1 for _ in _lines(path))
    return counts


def collector_of(path: Path) -> str:
    """Return the collector that wrote a file of dead letters or of quarantine."""
    return path.name.partition("-")[0]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # its lifetime is over
        return b""


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            yield from file
    except FileNotFoundError:  # already removed
        return
