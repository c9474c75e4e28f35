"""The formats that `tracegrade import` reads, each with a test that recognizes a file's content.

A format is a name, a test of a file's beginning, and a function that yields its parts. A new one
is a module with that function and a line in `FORMATS`.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.plain_files import READ_ERRORS
from tracegrade_collector.importing.chat import ROLES
from tracegrade_collector.importing.formats import (
    claude_code_format,
    codex_format,
    gemini_format,
    inspect_format,
    jaeger_format,
    langfuse_format,
    langsmith_format,
    message_format,
    opencode_format,
    otlp_format,
    phoenix_format,
    qwen_format,
    recognition,
    tau2_format,
    tempo_format,
    verdict_format,
)
from tracegrade_collector.importing.formats.peers import (
    braintrust_format,
    datadog_format,
    honeycomb_format,
    opik_format,
    weave_format,
)
from tracegrade_collector.importing.formats.trajectories import (
    atif_format,
    harbor_format,
    mini_swe_agent_format,
    openhands_format,
    swe_agent_format,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import read_records
from tracegrade_collector.importing.roles import known_roles
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.tables import PARQUET_MAGIC, first_row

HEAD_BYTES: Final = 4096
OF_FOLDERS: Final = (harbor_format.FORMAT, openhands_format.FORMAT)
NO_FOLDER: Final = "a folder, but no job of Harbor or conversation of OpenHands; name its files"
PROBED_RECORDS: Final = 20
"""Broken ones at a file's beginning are passed over."""


class Sample(NamedTuple):
    """The beginning of a file."""

    head: bytes
    """Its first bytes, without compression."""

    record: Any
    """Its first readable JSON value or row of Parquet; None if there is none."""

    paths: Mapping[str, str]
    """`--map`."""

    roles: Mapping[str, str] = ROLES
    """By the names that messages have for them."""

    folder: Path | None = None
    """The folder that is imported; None for a file."""


class ImportFormat(NamedTuple):
    """One format."""

    name: str
    """As `--format` takes it."""

    fits: Callable[[Sample], bool]
    """Whether a file that begins so is of this format."""

    read: Callable[[Path, ReadOptions], Iterator[ImportPart]]
    """Yields the parts of a file in order; may raise what reading a file fails with."""


FORMATS: Final = (
    ImportFormat("otlp", lambda sample: otlp_format.fits(sample.record), otlp_format.read),
    ImportFormat("tempo", lambda sample: tempo_format.fits(sample.record), tempo_format.read),
    ImportFormat(
        "langfuse", lambda sample: langfuse_format.fits(sample.record), langfuse_format.read
    ),
    ImportFormat(
        "langsmith", lambda sample: langsmith_format.fits(sample.record), langsmith_format.read
    ),
    ImportFormat(
        "phoenix", lambda sample: phoenix_format.fits(sample.record), phoenix_format.read
    ),
    ImportFormat(
        "inspect",
        lambda sample: inspect_format.fits(sample.head, sample.record),
        inspect_format.read,
    ),
    ImportFormat("tau2", lambda sample: tau2_format.fits(sample.record), tau2_format.read),
    ImportFormat("weave", lambda sample: weave_format.fits(sample.record), weave_format.read),
    ImportFormat("opik", lambda sample: opik_format.fits(sample.record), opik_format.read),
    ImportFormat(
        "braintrust",
        lambda sample: braintrust_format.fits(sample.record),
        braintrust_format.read,
    ),
    ImportFormat(
        "datadog", lambda sample: datadog_format.fits(sample.record), datadog_format.read
    ),
    ImportFormat(
        "honeycomb",
        lambda sample: honeycomb_format.fits(sample.head, sample.record),
        honeycomb_format.read,
    ),
    ImportFormat("jaeger", lambda sample: jaeger_format.fits(sample.record), jaeger_format.read),
    ImportFormat(
        "verdicts",
        lambda sample: verdict_format.fits(sample.head, sample.record, sample.paths),
        verdict_format.read,
    ),
    ImportFormat("qwen", lambda sample: qwen_format.fits(sample.record), qwen_format.read),
    ImportFormat(
        "claude-code",
        lambda sample: claude_code_format.fits(sample.record),
        claude_code_format.read,
    ),
    ImportFormat("codex", lambda sample: codex_format.fits(sample.record), codex_format.read),
    ImportFormat("gemini", lambda sample: gemini_format.fits(sample.record), gemini_format.read),
    ImportFormat(
        "opencode", lambda sample: opencode_format.fits(sample.record), opencode_format.read
    ),
    ImportFormat(
        "swe-agent",
        lambda sample: swe_agent_format.fits(sample.record),
        swe_agent_format.read,
    ),
    ImportFormat(
        "mini-swe-agent",
        lambda sample: mini_swe_agent_format.fits(sample.record),
        mini_swe_agent_format.read,
    ),
    ImportFormat(
        "openhands",
        lambda sample: (
            openhands_format.fits_folder(sample.folder)
            if sample.folder
            else openhands_format.fits(sample.record)
        ),
        openhands_format.read,
    ),
    ImportFormat("atif", lambda sample: atif_format.fits(sample.record), atif_format.read),
    ImportFormat(
        "harbor",
        lambda sample: sample.folder is not None and harbor_format.fits(sample.folder),
        harbor_format.read,
    ),
    ImportFormat(
        "messages",
        lambda sample: message_format.fits(sample.record, sample.paths, sample.roles),
        message_format.read,
    ),
)
"""In the order of the attempts; a file that fits none is read as the first."""

NAMES: Final = ("auto", *(format_.name for format_ in FORMATS))


def read_file(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield the parts of a file in order, and one with a fault for an unreadable part.

    Args:
        path: The file; compressed or not.
        reading: In which format, and where its fields stand.
    """
    if path.is_fifo():  # reading its beginning to find the format would consume it
        yield ImportPart(str(path), fault="a pipe can be read only once; import a file instead")
        return
    try:
        found = _found(path, reading)
        format_ = found.format
        if path.is_dir() and format_.name not in OF_FOLDERS:
            yield ImportPart(str(path), fault=NO_FOLDER)
            return
        if format_.name != message_format.FORMAT and (options := reading.of_chats()):
            note = f"read as {format_.name}, which {', '.join(options)} does not affect"
            yield ImportPart(str(path), notes=[note])
        for number, part in enumerate(format_.read(path, reading)):
            is_repaired = part.is_repaired or format_ is not FORMATS[0]
            explained = found.explained(part) if number == 0 else part
            yield explained._replace(is_repaired=is_repaired)
    except READ_ERRORS as error:
        yield ImportPart(str(path), fault=f"cannot be read: {error}")
    except RecursionError:
        fault = "a record is nested too deeply; it and the records after it are not read"
        yield ImportPart(str(path), fault=fault)


class _Found(NamedTuple):
    """The format of a file, and why it is that one."""

    format: ImportFormat
    reason: str | None = None
    """None if `--format` names it, or nothing fits."""

    unknown: str | None = None
    """Description of a file that is JSON of no format."""

    def explained(self, part: ImportPart) -> ImportPart:
        """Return the first part of the file with the reason, or with the keys of the file."""
        if self.reason is not None:
            return part._replace(recognized=f"{self.format.name} ({self.reason})")
        return part._replace(fault=self.unknown) if part.fault and self.unknown else part


def _found(path: Path, reading: ReadOptions) -> _Found:
    """Return the format that `--format` names, or else the first that fits."""
    if reading.format != "auto":
        return _Found(next(each for each in FORMATS if each.name == reading.format))
    sample = _sample(path, reading)
    for format_ in FORMATS:
        if format_.fits(sample):
            why = recognition.reason(format_.name, sample.record, reading.paths)
            return _Found(format_, reason=why)
    is_json = isinstance(sample.record, dict | list)
    return _Found(FORMATS[0], unknown=recognition.unknown(sample.record) if is_json else None)


def _sample(path: Path, reading: ReadOptions) -> Sample:
    paths, roles = reading.paths, known_roles(reading.roles)
    if path.is_dir():
        return Sample(b"", None, paths, roles, path)
    with open_plain(path) as file:
        head = file.peek(HEAD_BYTES)[:HEAD_BYTES]
        if head.startswith(PARQUET_MAGIC):
            return Sample(head, first_row(path), paths, roles)
        if head.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] not in (b"{", b"["):
            return Sample(head, None, paths, roles)
        records = islice(read_records(file), PROBED_RECORDS)
        record = next((each.value for each in records if not each.fault), None)
        return Sample(head, record, paths, roles)
