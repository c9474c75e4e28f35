"""Import adds each span of a file once, and says what it could not read."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector.running import landed, landed_ids

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.encoding.otlp_files import MAX_LINE_BYTES
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_collector.errors import ImportBusy
from tracegrade_collector.importing.importer import Imported, import_files
from tracegrade_lake import Lake

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def spans(*numbers: int, name: str = "a") -> ExportTraceServiceRequest:
    """Return a request with one span per number."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add().scope_spans.add()
    for number in numbers:
        trace_id, span_id = number.to_bytes(16), number.to_bytes(8)
        group.spans.add(trace_id=trace_id, span_id=span_id, name=name)
    return request


def logs(*texts: str) -> ExportLogsServiceRequest:
    """Return a request with one log record per text."""
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add().scope_logs.add()
    for text in texts:
        group.log_records.add().body.string_value = text
    return request


def line(request: ExportTraceServiceRequest | ExportLogsServiceRequest) -> str:
    """Return the request as a line of JSON."""
    return json.dumps(write_json(request)) + "\n"


def add(lake: Lake, *files: Path) -> tuple[Imported, list[str]]:
    """Import files; return the counts and the notes."""
    notes: list[str] = []
    return import_files(lake, files, notes.append), notes


def column(lake: Lake, table: str, name: str) -> list[Any]:
    """Return one column of all rows of a raw table."""
    values: list[Any] = landed(lake.root, table)[name].to_pylist()
    return values


def test_the_same_and_a_grown_file_add_what_is_new(lake: Lake, tmp_path: Path) -> None:
    """A span is known by its ids and content; of equal ids with other content both are kept."""
    file = tmp_path / "traces.jsonl"
    file.write_text(line(spans(1, 2)))
    first, _ = add(lake, file)
    again, _ = add(lake, file)
    file.write_text(line(spans(1, 2)) + line(spans(3)) + line(spans(2, name="other")))
    grown, _ = add(lake, file)

    added = [each.added[Signal.TRACES] for each in (first, again, grown)]
    assert added == [2, 0, 2]
    assert landed_ids(lake.root) == [1, 2, 2, 3]
    assert lake.version("raw_spans") == 2  # nothing new, so no commit


def framed(*messages: bytes) -> bytes:
    """Return messages with their length before each, as the Collector's file exporter does."""
    return b"".join(len(message).to_bytes(4) + message for message in messages)


def test_spans_count_once_across_encodings(lake: Lake, tmp_path: Path) -> None:
    """JSON, JSON lines, lists and protobuf, plain and compressed, hold the same spans."""
    request = spans(1, 2)
    written, protobuf = write_json(request), request.SerializeToString()
    contents = {
        "document": json.dumps(written, indent=1).encode(),
        "lines": line(request).encode(),
        "list": json.dumps([written]).encode(),
        "groups": json.dumps(written["resourceSpans"], indent=1).encode(),
        "protobuf": protobuf,
        "framed": framed(spans(1).SerializeToString(), spans(2).SerializeToString()),
        "compressed messages": framed(zstd.compress(protobuf)),
        "compressed lines": framed(zstd.compress(line(request).encode())),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
        frames = zstd.compress(content[:30]) + zstd.compress(content[30:])
        (tmp_path / f"{name}.zst").write_bytes(frames)
    files = [tmp_path / f"{name}{end}" for name in contents for end in ("", ".gz", ".zst")]

    imported, notes = add(lake, *files)

    assert notes == []
    known = 2 * len(files) - 2
    assert (imported.added[Signal.TRACES], imported.known[Signal.TRACES]) == (2, known)
    assert landed_ids(lake.root) == [1, 2]


def test_message_that_is_not_whole_costs_itself(lake: Lake, tmp_path: Path) -> None:
    """The exporter's process was killed, or a message inflates to more than a request may hold."""
    whole = [spans(number).SerializeToString() for number in (1, 2)]
    bomb = zstd.compress(b" " * (MAX_LINE_BYTES + 1))
    (tmp_path / "torn").write_bytes(framed(whole[0], bomb, whole[1])[:-1])

    imported, notes = add(lake, tmp_path / "torn")

    assert landed_ids(lake.root) == [1]
    assert imported.faults == 2
    assert notes == [
        f"{tmp_path / 'torn'}: message 2: more than 67108864 bytes decompressed",
        f"{tmp_path / 'torn'}: message 3: it is not whole",
    ]


def test_protobuf_shows_its_signal_by_its_content(lake: Lake, tmp_path: Path) -> None:
    """Both signals have the same outer form, and no file name is needed."""
    (tmp_path / "one").write_bytes(logs("a", "b").SerializeToString())
    (tmp_path / "two").write_bytes(spans(1).SerializeToString())

    imported, notes = add(lake, tmp_path / "one", tmp_path / "two")

    assert notes == []
    assert imported.added == {Signal.LOGS: 2, Signal.TRACES: 1}


def test_equal_log_records_are_all_kept(lake: Lake, tmp_path: Path) -> None:
    """They have no ids: what a file has more than the lake is added, and a copy of it is known."""
    file, copy = tmp_path / "logs.jsonl", tmp_path / "copy.jsonl"
    file.write_text(line(logs("tick", "tick")) + line(logs("tick", "tock")))
    copy.write_text(file.read_text())
    first, _ = add(lake, file, copy)
    file.write_text(file.read_text() + line(logs("tick")))
    grown, _ = add(lake, file)

    assert [first.added[Signal.LOGS], grown.added[Signal.LOGS]] == [4, 1]
    assert sorted(column(lake, "raw_logs", "body")) == ["tick"] * 4 + ["tock"]


def test_a_file_that_is_named_twice_counts_once(lake: Lake, tmp_path: Path) -> None:
    """A second pattern of the shell may name it again, next to itself or behind others."""
    file, other = tmp_path / "logs.jsonl", tmp_path / "traces.jsonl"
    file.write_text(line(logs("tick", "tick", "tock")))
    other.write_text(line(spans(1)))
    imported, _ = add(lake, file, file, other, file)

    assert (imported.added[Signal.LOGS], imported.known[Signal.LOGS]) == (3, 6)
    assert sorted(column(lake, "raw_logs", "body")) == ["tick", "tick", "tock"]


def test_a_pipe_is_refused_as_one(lake: Lake) -> None:
    """What told its format is gone when it is read: it would seem empty, or begin later."""
    reading, writing = os.pipe()
    os.write(writing, line(spans(1)).encode())
    os.close(writing)
    imported, notes = add(lake, Path(f"/dev/fd/{reading}"))
    os.close(reading)

    assert imported.faults == 1
    assert notes == [f"/dev/fd/{reading}: a pipe can be read only once; import a file instead"]


def test_bad_lines_are_named_and_good_ones_kept(lake: Lake, tmp_path: Path) -> None:
    """A note per line that cannot be read or loses items; nothing else is lost."""
    file = tmp_path / "traces.jsonl"
    bad_id = line(spans(2, 3)).replace((2).to_bytes(16).hex(), "")
    file.write_text("broken\n" + line(spans(1)) + "\n" + bad_id + '{"resourceMetrics":[]}\n')
    imported, notes = add(lake, file, tmp_path / "absent")

    assert landed_ids(lake.root) == [1, 3]
    assert imported.faults == 3
    assert imported.rejected.total() == 1
    assert notes[0].startswith(f"{file}:1: OTLP/JSON: top level: not JSON")
    assert notes[1] == f"{file}:4: 1 rejected: trace_id must be 16 bytes, not all zero"
    assert notes[2] == f"{file}:5: no resourceSpans or resourceLogs in it; found: resourceMetrics"
    assert notes[3].startswith(f"{tmp_path / 'absent'}: cannot be read: [Errno 2]")


def metric_body() -> bytes:
    """Return a request whose bytes parse as one of log records, too."""
    request = ExportMetricsServiceRequest()
    metrics = request.resource_metrics.add().scope_metrics.add().metrics
    metrics.add(name="n", unit="s").sum.data_points.add(as_int=1)
    return request.SerializeToString()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\x00\x01garbage", "neither JSON nor an OTLP protobuf request"),
        (metric_body(), "neither JSON nor an OTLP protobuf request"),
        (b"[]", "the list is empty"),
        (bytes(10_000), "neither JSON nor an OTLP protobuf request"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
        (zstd.compress(b'{"resourceSpans": []}' * 99)[:-9], "cannot be read"),
        (gzip.compress(b'{"resourceSpans": []}' * 99)[:-9], "cannot be read"),
    ],
    ids=["empty", "garbage", "metric", "list", "zeros", "no gzip", "torn zstd", "torn gzip"],
)
def test_a_file_that_is_no_otlp_is_named(
    lake: Lake, tmp_path: Path, content: bytes, said: str
) -> None:
    """One line says which file and why."""
    (tmp_path / "file").write_bytes(content)

    imported, (note,) = add(lake, tmp_path / "file")

    assert imported.faults == 1
    assert note.startswith(f"{tmp_path / 'file'}: ")
    assert said in note


def test_sequence_numbers_rise_over_imports(lake: Lake, tmp_path: Path) -> None:
    """Rows past a stored number are the new ones, for any later build."""
    for number in (1, 2, 3):
        (tmp_path / "file").write_text(line(spans(number)) + line(logs(str(number))))
        add(lake, tmp_path / "file")

    of_spans = column(lake, "raw_spans", "wal_seq")
    of_logs = column(lake, "raw_logs", "wal_seq")
    assert sorted([*of_spans, *of_logs]) == [1, 2, 3, 4, 5, 6]
    assert set(column(lake, "raw_spans", "collector_id")) == {"import"}


def test_one_import_runs_at_a_time(lake: Lake, tmp_path: Path) -> None:
    """A second one would take the same numbers, so it must wait."""
    (tmp_path / "file").write_text(line(spans(1)))
    program = f"import fcntl; f = open({str(lake.root / 'import.lock')!r}, 'w');"
    program += " fcntl.flock(f, fcntl.LOCK_EX); print('locked', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()

        with pytest.raises(ImportBusy, match="another import"):
            add(lake, tmp_path / "file")

        other.communicate(b"\n")
    add(lake, tmp_path / "file")
    assert landed_ids(lake.root) == [1]
