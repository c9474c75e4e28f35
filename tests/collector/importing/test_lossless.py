"""Real captures go through import and export, and come back equal to an independent reading."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_collector.export import export_json
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake

GROUPS = {
    Signal.TRACES: ("resourceSpans", "scopeSpans", "spans"),
    Signal.LOGS: ("resourceLogs", "scopeLogs", "logRecords"),
}
UNSET: tuple[object, ...] = ("", 0, "0", None, [])


def test_captures_come_back_equal(shared_data: Path, tmp_path: Path) -> None:
    """Each span and log record of the captures and of the specification's examples is the same."""
    files = [*shared_data.glob("dialects/*.json")]
    files += [shared_data / "otlp-fixtures/opentelemetry-proto" / name for name in EXAMPLES]
    lake = imported(tmp_path / "lake", files)

    for signal in Signal:
        sent = {item for file in files for item in items(json.loads(file.read_text()), signal)}
        assert len(sent) > 50
        assert set(exported(lake, signal)) == sent


EXAMPLES = ("trace.json", "logs.json", "events.json")


@pytest.mark.parametrize("name", ["trace.json", "traces.jsonl", "trace.pb", "traces.pb"])
def test_protobuf_and_its_json_mapping_come_back_equal(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    """Base64 ids and names of enum values are read as protobuf itself reads them."""
    file = shared_data / "otlp-fixtures/otlp2parquet/testdata" / name
    lake = imported(tmp_path / "lake", [file])

    read = "".join(exported_lines(lake, Signal.TRACES))

    sent = text_of(by_protobuf(file))
    assert sorted(text_of([by_our_reader(line) for line in read.splitlines()])) == sorted(sent)


def by_protobuf(file: Path) -> list[ExportTraceServiceRequest]:
    """Return the file's requests as the protobuf library reads them."""
    if file.suffix == ".pb":
        return [ExportTraceServiceRequest.FromString(file.read_bytes())]
    lines = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    return [json_format.Parse(line, ExportTraceServiceRequest()) for line in lines]


def by_our_reader(line: str) -> ExportTraceServiceRequest:
    """Return an exported line as a request."""
    request = decode(line.encode(), Signal.TRACES, Encoding.JSON)
    assert isinstance(request, ExportTraceServiceRequest)
    return request


def text_of(requests: list[ExportTraceServiceRequest]) -> list[str]:
    """Return each span with its resource and scope as protobuf's text."""
    return [
        "\n".join(map(text_format.MessageToString, (group.resource, part.scope, span)))
        for request in requests
        for group in request.resource_spans
        for part in group.scope_spans
        for span in part.spans
    ]


def imported(root: Path, files: list[Path]) -> Lake:
    """Return a lake that holds these files; none of their items was refused."""
    lake, notes = Lake.create(root), list[str]()
    import_files(lake, files, notes.append)

    assert notes == []
    return lake


def exported_lines(lake: Lake, signal: Signal) -> list[str]:
    """Return the lines of an export."""
    out = io.StringIO()
    export_json(lake, signal, None, out)
    return out.getvalue().splitlines(keepends=True)


def exported(lake: Lake, signal: Signal) -> Iterator[str]:
    """Yield each item of an export in the form of `items`."""
    for line in exported_lines(lake, signal):
        yield from items(json.loads(line), signal)


def items(request: dict[str, Any], signal: Signal) -> Iterator[str]:
    """Yield each item with what it shares, in a form in which equal spellings are equal."""
    groups, scope_groups, members = GROUPS[signal]
    for group in request.get(groups, ()):
        for part in group[scope_groups]:
            shared = [group.get("resource"), group.get("schemaUrl", "")]
            shared += [part.get("scope"), part.get("schemaUrl", "")]
            for item in part[members]:
                yield json.dumps([normal(each) for each in [*shared, item]], sort_keys=True)


def normal(value: Any) -> Any:
    """Return JSON without the members that mean "not set", ids lower-case, big integers as text.

    Lists keep their order. A value's own member (`boolValue`) is set with any value.
    """
    if isinstance(value, list):
        return [normal(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _spelling(key, normal(member))
        for key, member in value.items()
        if key.endswith("Value") or member not in UNSET
    }


def _spelling(key: str, value: Any) -> Any:
    if key.endswith("Id"):
        return value.lower()
    if key.endswith("UnixNano") or key == "intValue":
        return str(value)
    return float(value) if key == "doubleValue" else value
