"""What the commands `lake …` do; `lake_cli.py` says how they are called.

Progress and the summary go to stderr; stdout holds paths, the result of a check, or, with
`--json`, one JSON object.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from tracegrade.errors import BadInput
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.erasure import RAW, Erased, Erasure
from tracegrade_collector.lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_collector.lake.condition import parse_condition
from tracegrade_collector.progress import progress

TABLE_OF_NAME: Final = {"spans": RAW_SPANS.name, "logs": RAW_LOGS.name}
TRACE_ID: Final = re.compile(r"[0-9a-fA-F]{32}")
DURATION: Final = re.compile(r"([1-9][0-9]{0,6})([dh])")
HOURS_PER_DAY: Final = 24


@dataclass(frozen=True)
class LakeOptions:
    """The options that all commands have."""

    place: str
    state: Path | None = None
    tables: tuple[str, ...] = ()
    dry_run: bool = False
    as_json: bool = False

    def lake(self) -> Lake:
        """Return the lake.

        Raises:
            BadInput: There is none.
        """
        return Lake.open(self.place, self.state)

    def chosen_tables(self, lake: Lake) -> tuple[str, ...]:
        """Return the names of the tables that were asked for; none for all.

        Raises:
            BadInput: The lake has no such table.
        """
        found = lake.tables()
        chosen = tuple(TABLE_OF_NAME.get(name, name) for name in self.tables)
        for name in chosen:
            if name not in found:
                have = ", ".join(found) or "none"
                msg = f"the lake {self.place} has no table '{name}'; found: {have}"
                raise BadInput(msg)
        return chosen


def print_files(options: LakeOptions) -> None:
    """Print the paths or URLs of the tables' live files.

    Raises:
        BadInput: There is no such lake or table.
    """
    lake = options.lake()
    for name in options.chosen_tables(lake):
        for path in lake.files(name):
            typer.echo(path)


def delete(
    options: LakeOptions, traces: Sequence[str], where: str | None, config: Path | None
) -> None:
    """Erase traces, and say what was erased.

    Raises:
        BadInput: No trace and no condition is given, or one that means nothing.
        CollectorError: The lake or the log failed; calling again goes on.
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
        typer.echo(line, err=True)
    _tell(options, _erased_counts(erased))


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
        f"{path} cannot be read, so nobody knows what it holds; remove it if it may be of them"
        for path in erased.unreadable
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


def parse_days(text: str) -> int:
    """Return the whole days of a duration such as `30d` or `48h`.

    Raises:
        BadInput: It is none.
    """
    match = DURATION.fullmatch(text)
    if match is None:
        msg = f"a duration must be a number with d or h, such as 30d, got '{text}'"
        raise BadInput(msg)
    hours = int(match[1]) * (HOURS_PER_DAY if match[2] == "d" else 1)
    if hours % HOURS_PER_DAY:
        msg = f"tables are kept by whole days; give days, or hours that make days, got '{text}'"
        raise BadInput(msg)
    return hours // HOURS_PER_DAY


def _tell(options: LakeOptions, counts: Mapping[str, Any]) -> None:
    """Print the summary in one line on stderr, and on stdout as JSON if so wished."""
    shown = [
        f"{name.replace('_', ' ')}: {count}"
        for name, count in counts.items()
        if isinstance(count, int)
    ]
    typer.echo("would be " * options.dry_run + ", ".join(shown), err=True)
    if options.as_json:
        typer.echo(json.dumps({"dry_run": options.dry_run, **counts}))
