"""What a power cut can leave in a table's log, and taking it out of the way.

A log entry appears under its name at once and whole, but is synced only afterwards; a commit is
reported when it is. So only the newest entries can be torn, and none that anybody was told of.
An empty one would go unnoticed (the table opens, its rows are gone), half of one makes the table
unreadable, and one cut between two lines would lose the transaction but not the rows.
"""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_collector.files import make_folder, sync_folder

QUARANTINE_FOLDER = "_quarantine"  # beside the log; readers and vacuum skip names with `_`
ACTION_COUNT = "tracegradeActions"
"""Member of each commit's `commitInfo`: how many adds, removes and transactions follow."""


def is_whole(entry: Path) -> bool:
    """Return whether a log entry is readable to its end; a missing one (cleaned up) is."""
    try:
        lines = [json.loads(line) for line in entry.read_bytes().splitlines()]
    except FileNotFoundError:
        return True
    except ValueError:
        return False
    promised = sum(line.get("commitInfo", {}).get(ACTION_COUNT, 0) for line in lines)
    present = sum(any(kind in line for kind in ("add", "remove", "txn")) for line in lines)
    return bool(lines) and present >= promised


def mend(log: Path) -> list[str]:
    """Move the torn tail of the log, and an unreadable checkpoint, to quarantine.

    Returns:
        The names of the files that were moved; their commits were never reported, so whoever made
        them makes them again.
    """
    torn = _torn_tail(log) + _torn_checkpoint(log)
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


def _torn_checkpoint(log: Path) -> list[Path]:
    """Without its pointer the table is read from the checkpoint before, or from the entries."""
    checkpoints = sorted(log.glob("*.checkpoint.parquet"))
    if not checkpoints:
        return []
    try:
        pq.read_metadata(checkpoints[-1])
    except (OSError, pa.ArrowException):
        pointer = log / "_last_checkpoint"
        return [checkpoints[-1], *([pointer] if pointer.exists() else [])]
    return []
