"""The work of the commands `import` and `export`; `cli.py` declares their options.

stdout has the requested output and nothing else; counts and notes go to stderr.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TextIO

from tracegrade.errors import BadInput
from tracegrade.terminal.progress import progress
from tracegrade.terminal.visible import echo
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.encoding.otlp_http import OtlpHttp
from tracegrade_collector.errors import NotAllImported, OutUnwritable
from tracegrade_collector.export import Exported, export_http, export_json
from tracegrade_collector.importing.fenced_code import parse_languages
from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import Imported, import_files
from tracegrade_collector.importing.known_formats import NAMES
from tracegrade_collector.importing.mapping import parse_map
from tracegrade_collector.importing.plan_marker import parse_marker
from tracegrade_collector.importing.roles import parse_roles
from tracegrade_collector.rows.otlp_messages import REDACTED
from tracegrade_lake import Lake
from tracegrade_lake.out_files import out_file

SIGNAL_OF_NAME = {"spans": Signal.TRACES, "logs": Signal.LOGS}
NAME_OF_SIGNAL = {Signal.TRACES: "spans", Signal.LOGS: "log records"}
TRACE_ID_DIGITS = 32
RUN_EXPORTS = "tracegrade.run_exports"
"""Entry points of what writes runs in a format, by the format's name."""

MOST_NAMES = 20
"""Most names listed of fields that were not understood."""


@dataclass(frozen=True)
class ExportOptions:
    """The options of `tracegrade export`."""

    to: str
    table: str
    trace: str | None
    out: Path | None
    endpoint: str | None
    headers: tuple[str, ...]


@dataclass(frozen=True)
class ImportOptions:
    """The options of `tracegrade import` for reading files, as given."""

    format: str
    mapped: Sequence[str]
    roles: Sequence[str]
    plan_marker: str | None
    code_calls: bool
    code_languages: Sequence[str]
    allow_partial: bool

    def parsed(self) -> ReadOptions:
        """Return the options, checked.

        Raises:
            BadInput: The format, a mapped field or a role is unknown, a language is not a word, or
                the marker is not a pattern.
        """
        _check_choice("--format", self.format, NAMES)
        return ReadOptions(
            self.format,
            parse_map(self.mapped),
            parse_roles(self.roles),
            parse_marker(self.plan_marker),
            self.code_calls or bool(self.code_languages),
            parse_languages(self.code_languages),
            self.allow_partial,
        )


def run_import(
    paths: Sequence[Path], root: str | Path, options: ImportOptions, config: CollectorConfig
) -> None:
    """Import the files, and print the results on stderr.

    Raises:
        BadInput: An option cannot be used.
        ImportBusy: Another import into this lake is running.
        NotAllImported: Something could not be read; the rest is in the lake.
    """
    reading = options.parsed()
    with progress() as show:
        imported = import_files(Lake.create(root), paths, _note, config, reading, show)
    for line in _import_summary(imported):
        echo(line, err=True)
    rejected = imported.rejected.total()
    if imported.faults or rejected:
        msg = (
            f"{imported.faults} files or lines could not be read and {rejected} items were "
            f"rejected, see above; all else is in {root}"
        )
        raise NotAllImported(msg)


def _note(line: str) -> None:
    echo(line, err=True)


def run_export(root: str | Path, options: ExportOptions) -> None:
    """Export one table, and print on stderr how much that was.

    Raises:
        BadInput: The options are not usable together, or there is no lake.
        EndpointFailed: The endpoint did not take everything.
    """
    runs_of = {entry.name: entry for entry in entry_points(group=RUN_EXPORTS)}
    _check_choice("--to", options.to, ("otlp-json", "otlp-endpoint", *sorted(runs_of)))
    _check_choice("--table", options.table, tuple(SIGNAL_OF_NAME))
    _check_trace(options.trace)
    lake, signal = Lake.open(root), SIGNAL_OF_NAME[options.table]
    if options.to in runs_of:
        _export_runs(lake, options, runs_of[options.to])
        return
    if options.to == "otlp-endpoint":
        with OtlpHttp(_given_endpoint(options), _headers(options.headers)) as endpoint:
            exported = export_http(lake, signal, options.trace, endpoint)
    else:
        with _output(options.out) as file:
            exported = export_json(lake, signal, options.trace, file)
    echo(_export_summary(exported, signal), err=True)


def _export_runs(lake: Lake, options: ExportOptions, entry: EntryPoint) -> None:
    """Write runs in the format of another package, and print how many they are.

    Raises:
        BadInput: An option does not apply to runs, or the package is not installed.
    """
    if options.table != "spans" or options.endpoint or options.headers:
        msg = f"--to {options.to} writes runs; --table, --endpoint and --header do not apply to it"
        raise BadInput(msg)
    try:
        write = entry.load()
    except ModuleNotFoundError as error:
        msg = f"--to {options.to} needs module '{error.name}'; pip install 'tracegrade[scoring]'"
        raise BadInput(msg) from error
    with _output(options.out) as file:
        count = write(lake, options.trace, file, _note)
    echo(f"exported {count} runs", err=True)


def _check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        msg = f"{option} must be one of {', '.join(choices)}, got '{value}'"
        raise BadInput(msg)


def _check_trace(trace: str | None) -> None:
    if trace is not None and not (
        len(trace) == TRACE_ID_DIGITS and set(trace.lower()) <= set("0123456789abcdef")
    ):
        msg = f"--trace must be {TRACE_ID_DIGITS} hex digits, got '{trace}'"
        raise BadInput(msg)


def _given_endpoint(options: ExportOptions) -> str:
    if options.endpoint is None:
        msg = "--to otlp-endpoint needs --endpoint, such as http://localhost:4318"
        raise BadInput(msg)
    return options.endpoint


def _headers(given: Sequence[str]) -> dict[str, str]:
    pairs = [header.partition("=") for header in given]
    for key, equals, _ in pairs:
        if not key or not equals:
            msg = "--header must be KEY=VALUE"  # the text itself may be a secret
            raise BadInput(msg)
    return {key: value for key, _, value in pairs}


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """Yield stdout, or a private file that gets its name only when it is complete.

    Raises:
        OutUnwritable: The file cannot be written.
    """
    if path is None:
        yield sys.stdout
        return
    try:
        with out_file(path, private=True) as file:
            yield file
    except OSError as error:
        msg = f"--out {path} cannot be written: {error.strerror}; choose another place"
        raise OutUnwritable(msg) from error


def _import_summary(imported: Imported) -> Iterator[str]:
    if imported.recognized:
        yield f"files: {_listed(imported.recognized)}"
    for signal in Signal:
        added, known = imported.added[signal], imported.known[signal]
        yield f"{NAME_OF_SIGNAL[signal]}: {added} added, {known} were in the lake already"
    if imported.verdicts:
        added, replaced, known = (
            imported.verdicts[each] for each in ("added", "replaced", "known")
        )
        yield f"verdicts: {added} added, {replaced} replaced, {known} were in the lake already"
    if imported.understood:
        yield f"understood: {_listed(imported.understood)}"
    if imported.ignored:
        yield f"not understood: {_listed(imported.ignored)}"
    if imported.redacted:
        yield f"redacted: {_listed(imported.redacted)}"
    yield from _unnamed(imported)
    for reason, count in imported.rejected.most_common():
        yield f"rejected: {count} because {reason}"


def _unnamed(imported: Imported) -> Iterator[str]:
    """Yield a line if runs name neither agent nor release, which would distinguish them."""
    if imported.unnamed_runs:
        yield (
            f"{imported.unnamed_runs} of {imported.understood['trajectories']} runs name neither "
            "an agent nor a release, so they are scored as one release of one agent; "
            "--map agent==NAME,release==VERSION says which they are"
        )


def _listed(counts: Counter[str]) -> str:
    """Return counts by name, the most first; a file may hold any number of names."""
    named = [f"{count} {name}" for name, count in counts.most_common(MOST_NAMES)]
    rest = counts.total() - sum(count for _, count in counts.most_common(MOST_NAMES))
    return ", ".join([*named, f"{rest} others"] if rest else named)


def _export_summary(exported: Exported, signal: Signal) -> str:
    name = NAME_OF_SIGNAL[signal]
    summary = f"exported {exported.items} {name}"
    if exported.with_repeated_keys:
        summary += f"; {exported.with_repeated_keys} have a key twice, and were written with both"
    if exported.redacted:
        summary += (
            f"; {exported.redacted} were redacted; the changed places are listed in {REDACTED}"
        )
    return summary
