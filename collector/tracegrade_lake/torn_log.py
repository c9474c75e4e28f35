"""Finds log entries of a table that a power cut tore, and moves them to quarantine.

A log entry appears under its name at once and whole, but is synced only afterwards; a commit is
reported when it is. So only the newest entries can be torn, and none that were reported. An empty
entry would go unnoticed: the table opens without its rows. Half an entry makes the table
unreadable. An entry cut between two lines would lose the transaction but not the rows.
"""

import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake.files import is_older, make_folder, sync_folder

QUARANTINE_FOLDER = "_quarantine"  # next to the log; readers and vacuum skip names with `_`
ACTION_COUNT = "tracegradeActions"
"""Member of each commit's `commitInfo`: how many adds, removes and transactions follow."""


def is_whole(entry: Path) -> bool:
    """Return whether a log entry is there, readable to its end, and made of actions."""
    try:
        lines = [json.loads(line) for line in entry.read_bytes().splitlines()]
        promised = sum(line.get("commitInfo", {}).get(ACTION_COUNT, 0) for line in lines)
    except (FileNotFoundError, ValueError, RecursionError, AttributeError, TypeError):
        return False
    present = sum(any(kind in line for kind in ("add", "remove", "txn")) for line in lines)
    return bool(lines) and present >= promised


def torn_files(log: Path) -> list[Path]:
    """Return the log's torn tail, and unusable checkpoints with their pointer.

    A checkpoint is written right after its entry and may be on the disk without it. The table
    would open at its version, and no commit could follow.
    """
    torn = _torn_tail(log)
    entries = [entry for entry in log.glob("*.json") if entry not in torn]
    newest = max(map(_version, entries), default=None)
    return torn + _torn_checkpoints(log, newest)


def put_aside_torn(log: Path) -> list[str]:
    """Move the torn tail of the log, and unreadable checkpoints, to quarantine.

    Returns:
        The names of the files that were moved; their commits were never reported, so their
        writers repeat them.
    """
    torn = torn_files(log)
    quarantine = log.parent / QUARANTINE_FOLDER
    if torn:
        make_folder(quarantine)
    for entry in torn:
        os.replace(entry, quarantine / entry.name)
    if torn:
        sync_folder(quarantine)
        sync_folder(log)
    return [entry.name for entry in torn]


def _torn_tail(log: Path) -> list[Path]:
    torn = []
    for entry in sorted(log.glob("*.json"), reverse=True):
        if is_whole(entry):
            break
        torn.append(entry)
    return torn


def _torn_checkpoints(log: Path, newest: int | None) -> list[Path]:
    """Without its pointer the table is read from the checkpoint before, or from the entries.

    Args:
        log: The log's folder.
        newest: The last version with a whole entry; None if there is no entry left at all, and
            a checkpoint is all there is.
    """
    torn = []
    for checkpoint in sorted(log.glob("*.checkpoint.parquet"), reverse=True):
        is_ahead = newest is not None and _version(checkpoint) > newest
        if not is_ahead and _is_readable(checkpoint):
            break
        torn.append(checkpoint)
    pointer = log / "_last_checkpoint"
    if pointer.exists() and (torn or not _points_to_one(pointer)):
        torn.append(pointer)
    return torn


def _is_readable(checkpoint: Path) -> bool:
    try:
        pq.read_table(checkpoint)
    except (OSError, pa.ArrowException):
        return False
    return True


def _points_to_one(pointer: Path) -> bool:
    try:
        version = json.loads(pointer.read_bytes())["version"]
        return (pointer.parent / f"{version:020d}.checkpoint.parquet").exists()
    except (ValueError, KeyError, TypeError):
        return True  # every reader ignores a torn pointer


def holes(log: Path) -> list[int]:
    """Return the versions that are needed to read the table and missing or torn, ascending.

    A torn tail was put aside before, so later entries build upon these, which have to stay.
    """
    checkpoints = [_version(path) for path in log.glob("*.checkpoint.parquet")]
    entries = {_version(path): path for path in log.glob("*.json")}
    first = max(checkpoints, default=-1) + 1
    newest = max(entries, default=-1)
    return [
        version
        for version in range(first, newest + 1)
        if version not in entries or not is_whole(entries[version])
    ]


def remnants(log: Path, older_than_secs: float) -> list[Path]:
    """Return unfinished entries (`N.json#1`) that a killed writer left; they do no harm."""
    newest_ns = time.time_ns() - int(older_than_secs * 1e9)
    return [path for path in sorted(log.glob("*#*")) if is_older(path, newest_ns)]


def _version(path: Path) -> int:
    return int(path.name.partition(".")[0])
