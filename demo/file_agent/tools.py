"""The file agent's tools: plain functions on real files, each with its effect and its cost.

Paths are relative to the working directory, which the program sets to the run's own folder.
A folder may hold a quota file, as hosting platforms set one: writing beyond it fails as on a
full disk.
"""

import csv
import errno
import hashlib
import io
import json
import os
import shutil
from datetime import date
from pathlib import Path
from typing import Any, TypedDict

import tracegrade

COLUMNS = ("order", "customer", "amount", "date")
QUOTA_FILE = ".quota"
LEFTOVER_SUFFIX = ".partial"

Row = dict[str, str]


class MalformedHeaderError(ValueError):
    """The first line of an upload does not name the columns that were agreed."""


class Rejected(TypedDict):
    """A row that did not pass, and why."""

    order: str
    reason: str


@tracegrade.tool(effect="read", cost=20)
def list_directory(folder: str) -> list[dict[str, Any]]:
    """Return every file below a folder with its size and checksum. Reads every byte: expensive."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return [
        {
            "path": str(path),
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest()[:16],
        }
        for path in files
    ]


@tracegrade.tool(effect="read", cost=1)
def is_empty(folder: str) -> dict[str, Any]:
    """Return whether a folder has no file, looking at one directory entry at most."""
    with os.scandir(folder) as entries:
        return {"folder": folder, "empty": next(entries, None) is None}


@tracegrade.tool(effect="read", cost=2)
def find_csv_files(folder: str) -> list[str]:
    """Return the paths of the CSV files of a folder, sorted."""
    return sorted(str(path) for path in Path(folder).glob("*.csv"))


@tracegrade.tool(effect="read", cost=5)
def read_csv(path: str, delimiter: str = ",") -> list[Row]:
    """Return the rows of an upload.

    Raises:
        MalformedHeaderError: Its first line does not name the agreed columns.
    """
    text = Path(path).read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    if tuple(rows.fieldnames or ()) != COLUMNS:
        first_line = text.partition("\n")[0]
        msg = f"{path} starts with {first_line!r}, expected {delimiter.join(COLUMNS)!r}"
        raise MalformedHeaderError(msg)
    return list(rows)


@tracegrade.tool(effect="read", cost=2)
def validate_rows(rows: list[Row]) -> dict[str, list[Any]]:
    """Return the rows split into `valid` and `rejected`, each rejected one with its reason."""
    reasons = [_why_rejected(row) for row in rows]
    return {
        "valid": [row for row, reason in zip(rows, reasons, strict=True) if not reason],
        "rejected": [
            Rejected(order=row["order"], reason=reason)
            for row, reason in zip(rows, reasons, strict=True)
            if reason
        ],
    }


@tracegrade.tool(effect="read", cost=1)
def check_disk_space(folder: str, need_bytes: int) -> dict[str, Any]:
    """Return how many bytes a folder can still take, and whether that is enough."""
    free = _free_bytes(folder)
    return {"folder": folder, "free_bytes": free, "enough": free >= need_bytes}


@tracegrade.tool(effect="write", cost=5)
def write_clean_file(path: str, rows: list[Row]) -> dict[str, Any]:
    """Write rows as CSV with a header and return the result.

    Raises:
        OSError: The folder is full (ENOSPC); nothing was written.
    """
    target = Path(path)
    text = as_csv(rows)
    replaced = target.stat().st_size if target.exists() else 0
    if len(text.encode()) > _free_bytes(str(target.parent)) + replaced:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    target.write_text(text, encoding="utf-8")
    return {"path": path, "rows": len(rows), "bytes": len(text.encode())}


@tracegrade.tool(effect="destructive", cost=5)
def remove_leftovers(folder: str) -> dict[str, Any]:
    """Delete the partial files that an interrupted run left in a folder."""
    leftovers = sorted(Path(folder).glob(f"*{LEFTOVER_SUFFIX}"))
    for path in leftovers:
        path.unlink()
    return {"removed": [str(path) for path in leftovers], "free_bytes": _free_bytes(folder)}


@tracegrade.tool(effect="destructive", cost=5)
def archive_uploads(folder: str, to: str) -> dict[str, Any]:
    """Move every file of a folder into another one; the originals are gone."""
    Path(to).mkdir(exist_ok=True)
    moved = sorted(path for path in Path(folder).iterdir() if path.is_file())
    for path in moved:
        shutil.move(path, Path(to) / path.name)
    return {"moved": [str(path) for path in moved], "to": to}


@tracegrade.tool(effect="write", cost=5)
def copy_uploads(folder: str, to: str) -> dict[str, Any]:
    """Copy every file of a folder into another one; the originals stay."""
    Path(to).mkdir(exist_ok=True)
    copied = sorted(path for path in Path(folder).iterdir() if path.is_file())
    for path in copied:
        shutil.copy2(path, Path(to) / path.name)
    return {"copied": [str(path) for path in copied], "to": to}


@tracegrade.tool(effect="write", cost=3)
def quarantine_file(path: str, reason: str) -> dict[str, Any]:
    """Move one unreadable upload aside, with a note of the reason."""
    folder = Path("quarantine")
    folder.mkdir(exist_ok=True)
    quarantined = Path(shutil.move(path, folder / Path(path).name))
    quarantined.with_suffix(".reason.txt").write_text(reason, encoding="utf-8")
    return {"path": str(quarantined), "from": path}


@tracegrade.tool(effect="write", cost=3)
def write_report(path: str, summary: dict[str, Any]) -> dict[str, Any]:
    """Write the summary as JSON and return where it stands."""
    text = json.dumps(summary, indent=2, sort_keys=True)
    Path(path).write_text(text, encoding="utf-8")
    return {"path": path, "bytes": len(text.encode())}


TOOLS = (
    list_directory,
    is_empty,
    find_csv_files,
    read_csv,
    validate_rows,
    check_disk_space,
    write_clean_file,
    remove_leftovers,
    archive_uploads,
    copy_uploads,
    quarantine_file,
    write_report,
)
"""Every tool that the agent is offered, in either release."""


def as_csv(rows: list[Row]) -> str:
    """Return rows as CSV text with a header, one line each."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _why_rejected(row: Row) -> str:
    if any(not row.get(column) for column in COLUMNS):
        return "a column is missing"
    if not row["amount"].replace(".", "", 1).isdigit():
        return f"amount {row['amount']!r} is not a number"
    try:
        date.fromisoformat(row["date"])
    except ValueError:
        return f"date {row['date']!r} is not a day"
    return ""


def _free_bytes(folder: str) -> int:
    free = shutil.disk_usage(folder).free
    quota_file = Path(folder) / QUOTA_FILE
    if not quota_file.exists():
        return free
    used = sum(path.stat().st_size for path in Path(folder).iterdir() if path != quota_file)
    return min(free, int(quota_file.read_text()) - used)
