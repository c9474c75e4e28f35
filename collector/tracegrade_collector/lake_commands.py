"""The work of the commands `lake …`; `lake_cli.py` declares their options.

Progress and the summary go to stderr; stdout holds paths, the result of a check, or, with
`--json`, one JSON object.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path
from typing import Any, Final

import typer

from tracegrade.errors import BadInput
from tracegrade.terminal.progress import progress
from tracegrade.terminal.visible import echo, echo_for_programs
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import NotAllErased, VerificationFailed
from tracegrade_collector.maintenance import repair as repairing
from tracegrade_collector.maintenance import verify as verification
from tracegrade_collector.maintenance.erasure import RAW, Erased, Erasure
from tracegrade_collector.maintenance.verify import AccountLine, VerificationReport
from tracegrade_collector.status_part import GROUP as STATUS_PARTS
from tracegrade_collector.status_part import StatusPart
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_lake.maintenance import compaction, expiry
from tracegrade_lake.maintenance.compaction import CompactOptions
from tracegrade_lake.maintenance.condition import parse_condition

TABLE_OF_NAME: Final = {"spans": RAW_SPANS.name, "logs": RAW_LOGS.name}
TRACE_ID: Final = re.compile(r"[0-9a-fA-F]{32}")
DURATION: Final = re.compile(r"([1-9][0-9]{0,6})([dh])")
HOURS_PER_DAY: Final = 24


@dataclass(frozen=True)
class LakeOptions:
    """The options that all commands have."""

    location: str
    state: Path | None = None
    tables: tuple[str, ...] = ()
    dry_run: bool = False
    as_json: bool = False

    def lake(self) -> Lake:
        """Return the lake.

        Raises:
            BadInput: There is none.
        """
        return Lake.open(self.location, self.state)

    def chosen_tables(self, found: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the tables that were asked for, of those found; none for all.

        Raises:
            BadInput: The lake has no such table.
        """
        chosen = tuple(TABLE_OF_NAME.get(name, name) for name in self.tables)
        for name in chosen:
            if name not in found:
                near = ", ".join(f"'{known}'" for known in found if name in known)
                meant = f"did you mean {near}? " if near else ""
                have = ", ".join(found) or "none"
                msg = f"the lake {self.location} has no table '{name}'; {meant}found: {have}"
                raise BadInput(msg)
        return chosen


def print_files(options: LakeOptions) -> None:
    """Print the paths or URLs of the tables' live files.

    Raises:
        BadInput: There is no such lake or table.
    """
    lake = options.lake()
    for name in options.chosen_tables(lake.tables()):
        for path in lake.files(name):
            echo_for_programs(path)


def print_status(options: LakeOptions) -> None:
    """Print what the packages that are installed know of a lake.

    Raises:
        BadInput: There is no such lake, or scoring is not installed.
    """
    lake = options.lake()
    entries = sorted(entry_points(group=STATUS_PARTS), key=lambda entry: entry.name)
    try:
        parts: list[StatusPart] = [entry.load()(lake) for entry in entries]
    except ModuleNotFoundError as error:
        msg = f"the status needs module '{error.name}'; pip install 'tracegrade[scoring]'"
        raise BadInput(msg) from error
    if options.as_json:
        typer.echo(
            json.dumps({name: value for part in parts for name, value in part.values.items()})
        )
        return
    for line in chain.from_iterable(part.lines for part in parts):
        echo(line)


def delete(
    options: LakeOptions, traces: Sequence[str], where: str | None, config: Path | None
) -> None:
    """Erase traces, and print counts of what was erased.

    Raises:
        BadInput: No trace and no condition is given, or one cannot be parsed.
        NotAllErased: A file outside the tables cannot be read; the rest is erased, and printed.
        CollectorError: The lake or the log failed; calling again continues.
    """
    ids = _trace_ids(traces)
    condition = parse_condition(where, RAW) if where is not None else None
    if not ids and condition is None:
        msg = "nothing to delete; give --trace ID or --where CONDITION"
        raise BadInput(msg)
    lake, collector = options.lake(), CollectorConfig.load(config, {})
    with progress() as note:
        erasure = Erasure(lake, collector, note, dry_run=options.dry_run)
        erased = erasure.erase(ids, condition)
    for line in _erased_lines(erased):
        echo(line, err=True)
    _tell(options, _erased_counts(erased))
    if erased.unreadable:
        msg = (
            f"{len(erased.unreadable)} files outside the tables cannot be read, so they may hold "
            "these traces; remove those named above, and run this again"
        )
        raise NotAllErased(msg)


def _trace_ids(texts: Sequence[str]) -> list[str]:
    for text in texts:
        if not TRACE_ID.fullmatch(text):
            msg = f"--trace must be 32 hex digits, got '{text}'"
            raise BadInput(msg)
    return [text.lower() for text in texts]


def _erased_lines(erased: Erased) -> list[str]:
    lines = [
        f"{name}: {removed.rows} rows in {removed.files} files"
        + f", {removed.leftovers} old files" * bool(removed.leftovers)
        for name, removed in erased.tables.items()
        if removed.rows or removed.leftovers
    ]
    return lines + [
        f"{path} cannot be read, so it may hold these traces" for path in erased.unreadable
    ]


def _erased_counts(erased: Erased) -> dict[str, Any]:
    return {
        "traces": erased.traces,
        "rows": erased.rows,
        "files": sum(removed.files for removed in erased.tables.values()),
        "old_files": sum(removed.leftovers for removed in erased.tables.values()),
        "pending_requests": erased.pending_requests,
        "quarantined_files": erased.quarantined_files,
        "dead_letters": erased.dead_letters,
        "spilled_files": erased.spilled_files,
        "unreadable_files": len(erased.unreadable),
        "tables": {
            name: {"rows": removed.rows, "files": removed.files, "old_files": removed.leftovers}
            for name, removed in erased.tables.items()
        },
    }


def compact(options: LakeOptions, target_bytes: int | None) -> None:
    """Merge small files into large ones, and print how many.

    Raises:
        BadInput: There is no such lake or table.
        MaintenanceBusy: Another process maintains the lake.
    """
    lake = options.lake()
    chosen = CompactOptions(options.chosen_tables(lake.tables()))
    if target_bytes is not None:
        chosen = replace(chosen, target_bytes=target_bytes)
    with progress() as note:
        done = compaction.compact(lake, chosen, note, dry_run=options.dry_run)
    left = compaction.left_alone(lake, chosen)
    if any(left):
        echo(
            f"files left: {left.young} are newer than {chosen.min_age_secs / 60:g} minutes, "
            f"{left.few} are fewer than {compaction.MERGED_AT_ONCE} of about one size, "
            f"{left.done} are sorted or large already",
            err=True,
        )
    _tell(options, done._asdict() | {"left": left._asdict()})


def expire(options: LakeOptions, older_than: str, *, keep_built: bool) -> None:
    """Remove old dates from the tables, and print how many.

    Raises:
        BadInput: The duration cannot be parsed; there is no such lake or table.
        MaintenanceBusy: Another process maintains the lake.
    """
    days, lake = parse_days(older_than), options.lake()
    with progress() as note:
        done = expiry.expire(
            lake,
            days,
            note,
            keep_built=keep_built,
            tables=options.chosen_tables(lake.tables()),
            dry_run=options.dry_run,
        )
    _tell(options, done._asdict())


def repair(options: LakeOptions, *, rebuild: bool) -> None:
    """Repair the tables, and print each finding.

    Raises:
        BadInput: There is no such lake or table.
        MaintenanceBusy: Another process maintains the lake.
    """
    lake = options.lake()
    done = repairing.repair(
        lake,
        partial(echo, err=True),
        tables=options.chosen_tables(repairing.repairable_tables(lake)),
        dry_run=options.dry_run,
        rebuild=rebuild,
    )
    _tell(options, done._asdict())


def verify(options: LakeOptions, *, deep: bool) -> None:
    """Print the account of each collector, and each check that failed.

    Raises:
        BadInput: There is no such lake.
        VerificationFailed: A check failed.
    """
    lake = options.lake()
    with progress() as note:
        report = verification.verify(lake, note, deep=deep)
    if options.as_json:
        typer.echo(json.dumps(report.counts()))
    else:
        for line in _report_lines(report):
            echo(line)
    if report.wrong:
        msg = f"{len(report.wrong)} checks failed, see above"
        raise VerificationFailed(msg)


ACCOUNT_COLUMNS: Final = (
    "collector",
    "signal",
    "received",
    "landed",
    "rejected",
    "quarantined",
    "pending",
    "unaccounted",
    "rows",
    "removed",
)


def _report_lines(report: VerificationReport) -> Iterator[str]:
    """Yield the accounts as a table, one line per table of the lake, and the findings."""
    rows = [ACCOUNT_COLUMNS] + [
        (line.collector_id, line.signal, *map(str, _numbers(line))) for line in report.lines
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
    for name, state in report.tables.items():
        rows_in_all, files = state.rows.total(), state.files
        yield f"{name}: {rows_in_all} rows in {files} files, version {state.version}"
    yield from (f"note: {line}" for line in report.notes)
    yield from (f"wrong: {line}" for line in report.wrong)
    yield "all checks passed" if not report.wrong else f"{len(report.wrong)} checks failed"


def _numbers(line: AccountLine) -> tuple[int, ...]:
    return (
        line.received,
        line.landed,
        line.rejected,
        line.quarantined,
        line.pending,
        line.unaccounted,
        line.rows,
        line.removed,
    )


def parse_days(text: str) -> int:
    """Return the whole days of a duration such as `30d` or `48h`.

    Raises:
        BadInput: It cannot be parsed.
    """
    match = DURATION.fullmatch(text)
    if match is None:
        msg = f"a duration must be a number followed by d or h, such as 30d, got '{text}'"
        raise BadInput(msg)
    hours = int(match[1]) * (HOURS_PER_DAY if match[2] == "d" else 1)
    if hours % HOURS_PER_DAY:
        msg = (
            f"retention counts whole days; give days, or hours that make whole days, got '{text}'"
        )
        raise BadInput(msg)
    return hours // HOURS_PER_DAY


def _tell(options: LakeOptions, counts: Mapping[str, Any]) -> None:
    """Print the summary in one line on stderr, and with `--json` as JSON on stdout."""
    printed = [
        f"{name.replace('_', ' ')}: {count}"
        for name, count in counts.items()
        if isinstance(count, int)
    ]
    echo("dry run: " * options.dry_run + ", ".join(printed), err=True)
    if options.as_json:
        typer.echo(json.dumps({"dry_run": options.dry_run, **counts}))
