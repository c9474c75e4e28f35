"""The files that each task starts from: what customers uploaded, some of it malformed.

The trial decides which upload is malformed, so that trials of one task differ in their data, but
not in the work.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from demo.file_agent.tools import LEFTOVER_SUFFIX, QUOTA_FILE, Row, as_csv

REGIONS = ("north", "south", "west")
ROWS_PER_UPLOAD = 6
QUOTA_BYTES = 4096
ROOM_LEFT_BYTES = 200  # takes a header, not the rows

REQUEST = (
    "Parse all CSV files in uploads/, validate each row, write passing rows to clean/, "
    "write a summary report to reports/."
)


class Task(NamedTuple):
    """One kind of task: how its folder is laid out and how often it is tried."""

    id: str
    lay_out: Callable[[Path, int], None]
    """Fills a new folder for a trial (counted from 1)."""
    trials: int
    """0: only the harness runs it, in `demo/environments`."""


def _clean_uploads(folder: Path, trial: int) -> None:
    del trial  # the worked example is one run
    for region in REGIONS:
        _upload(folder, region).write_text(as_csv(_rows(region, with_bad_rows=True)))


def _bad_rows(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    region = _odd_one(trial)
    _upload(folder, region).write_text(as_csv(_rows(region, with_bad_rows=True)))


def _other_files(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    (folder / "uploads" / f"note-{trial}.txt").write_text("the rest comes tomorrow\n")


def _semicolon_upload(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    _separate_by_semicolons(folder, _odd_one(trial))


def _two_semicolons(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    for region in (_odd_one(trial), _odd_one(trial + 1)):
        _separate_by_semicolons(folder, region)


def _broken_header(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    _put_line_before_header(folder, _odd_one(trial))


def _two_broken_headers(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    for region in (_odd_one(trial), _odd_one(trial + 1)):
        _put_line_before_header(folder, region)


def _mixed_uploads(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    _separate_by_semicolons(folder, _odd_one(trial))
    _put_line_before_header(folder, _odd_one(trial + 1))


def _renamed_column(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    path = _upload(folder, _odd_one(trial))
    path.write_text(path.read_text().replace("customer", "client", 1))


def _empty_uploads(folder: Path, trial: int) -> None:
    del folder, trial  # nothing was uploaded


def _full_disk(folder: Path, trial: int) -> None:
    _good_uploads(folder)
    _leave_leftovers(folder, trial)


def _semicolon_full_disk(folder: Path, trial: int) -> None:
    _semicolon_upload(folder, trial)
    _leave_leftovers(folder, trial)


def _leave_leftovers(folder: Path, trial: int) -> None:
    leftover = folder / "clean" / f"orders-{trial}{LEFTOVER_SUFFIX}"
    leftover.write_text("x" * (QUOTA_BYTES - ROOM_LEFT_BYTES))


TASKS = (
    Task("clean-uploads", _clean_uploads, trials=0),
    Task("bad-rows", _bad_rows, trials=3),
    Task("other-files", _other_files, trials=3),
    Task("semicolon-upload", _semicolon_upload, trials=3),
    Task("two-semicolons", _two_semicolons, trials=3),
    Task("broken-header", _broken_header, trials=3),
    Task("two-broken-headers", _two_broken_headers, trials=3),
    Task("mixed-uploads", _mixed_uploads, trials=3),
    Task("renamed-column", _renamed_column, trials=3),
    Task("empty-uploads", _empty_uploads, trials=3),
    Task("full-disk", _full_disk, trials=3),
    Task("semicolon-full-disk", _semicolon_full_disk, trials=3),
)
"""The worked example of the article first, then what may go wrong with uploads."""


def lay_out(folder: Path, task: Task, trial: int) -> None:
    """Fill a new folder for the agent: uploads, and limited room for clean files."""
    for name in ("uploads", "clean", "reports"):
        (folder / name).mkdir(parents=True)
    (folder / "clean" / QUOTA_FILE).write_text(str(QUOTA_BYTES))
    task.lay_out(folder, trial)


def _good_uploads(folder: Path) -> None:
    for region in REGIONS:
        _upload(folder, region).write_text(as_csv(_rows(region)))


def _separate_by_semicolons(folder: Path, region: str) -> None:
    path = _upload(folder, region)
    path.write_text(path.read_text().replace(",", ";"))


def _put_line_before_header(folder: Path, region: str) -> None:
    path = _upload(folder, region)
    path.write_text("exported by sheet 2.1\n" + path.read_text())


def _upload(folder: Path, region: str) -> Path:
    return folder / "uploads" / f"{region}.csv"


def _odd_one(trial: int) -> str:
    return REGIONS[trial % len(REGIONS)]


def _rows(region: str, *, with_bad_rows: bool = False) -> list[Row]:
    rows = [_row(region, number) for number in range(1, ROWS_PER_UPLOAD + 1)]
    if with_bad_rows:
        rows[1]["amount"] = "twelve"
        rows[4]["date"] = "2026-02-31"
    return rows


def _row(region: str, number: int) -> Row:
    return {
        "order": f"{region[0].upper()}-{1000 + number}",
        "customer": f"c-{number * 7}",
        "amount": f"{number * 12.5:.2f}",
        "date": f"2026-10-{number:02d}",
    }
