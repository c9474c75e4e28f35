"""The commands `import`, `export` and `lake files`, as a user calls them."""

import gzip
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pyarrow as pa
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.collector.running import collecting, landed, landed_ids, trace_request
from tests.commands import Ended, tracegrade
from tests.waiting import wait_until

from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_collector.export import REQUEST_BYTES
from tracegrade_collector.rows.rows import Record, span_rows
from tracegrade_lake import RAW_SPANS, Lake

TRACE = f"{1:032x}"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with two traces of two spans; span 2 has a key twice, span 4 was sent twice."""
    request, other = trace_request(1, 2), trace_request(3, 4, trace_id=2)
    for text in ("first", "second"):
        span = request.resource_spans[0].scope_spans[0].spans[1]
        span.attributes.add(key="a").value.string_value = text
    rows = span_rows([record(1, request), record(2, other)], "c1")
    again = span_rows([record(3, trace_request(4, trace_id=2))], "c1")
    lake = Lake.create(tmp_path / "lake")
    lake.append(RAW_SPANS, rows)
    resent = again.schema.get_field_index("resent")
    lake.append(RAW_SPANS, again.set_column(resent, "resent", [[True]]))
    return lake


def record(seq: int, request: ExportTraceServiceRequest) -> Record:
    """Return the request as received."""
    body = request.SerializeToString()
    return Record(seq, 1_763_676_000_000_000_000, Signal.TRACES, Encoding.PROTOBUF, "", body)


def spans_of(lines: str) -> list[tuple[int, list[str]]]:
    """Return number and attribute values of each span in lines of OTLP/JSON."""
    found = []
    for line in lines.splitlines():
        request = decode(line.encode(), Signal.TRACES, Encoding.JSON)
        assert isinstance(request, ExportTraceServiceRequest)
        for span in request.resource_spans[0].scope_spans[0].spans:
            values = [entry.value.string_value for entry in span.attributes]
            found.append((int.from_bytes(span.span_id), values))
    return sorted(found)


def test_export_writes_each_span_once(lake: Lake) -> None:
    """Repeated keys come back as they were, spans that were sent twice only once."""
    exported = tracegrade("export", "--lake", lake.root, "--to", "otlp-json")

    assert spans_of(exported.stdout) == [(1, []), (2, ["first", "second"]), (3, []), (4, [])]
    assert exported.stderr == "exported 4 spans; 1 have a key twice, and were written with both\n"
    assert exported.returncode == 0


def test_export_writes_one_trace_to_a_file(lake: Lake, tmp_path: Path) -> None:
    """The file is for its owner alone and appears when it is whole."""
    out = tmp_path / "out.jsonl"
    exported = tracegrade(
        "export", "--lake", lake.root, "--to=otlp-json", "--trace", TRACE, "--out", out
    )

    assert [number for number, _ in spans_of(out.read_text())] == [1, 2]
    assert out.stat().st_mode & 0o777 == 0o600
    assert exported.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} == {"lake", "out.jsonl"}


def test_what_is_exported_is_known_when_imported(lake: Lake, tmp_path: Path) -> None:
    """Equal spans have equal hashes, so nothing is added."""
    out = tmp_path / "out.jsonl"
    tracegrade("export", "--lake", lake.root, "--to=otlp-json", "--out", out)

    imported = tracegrade("import", out, "--lake", lake.root)

    assert "spans: 0 added, 4 were in the lake already\n" in imported.stderr


def test_a_collector_takes_what_is_sent_to_it(lake: Lake, tmp_path: Path) -> None:
    """From one lake over OTLP/HTTP into another."""
    other = tmp_path / "other"
    with collecting(other) as collector:
        to = ("--to=otlp-endpoint", "--endpoint", collector.url)
        sent = tracegrade("export", "--lake", lake.root, *to)
        wait_until(lambda: len(landed_ids(other)) == 4)

    hashes = [sorted(set(landed(each)["content_hash"].to_pylist())) for each in (lake.root, other)]
    assert sent.returncode == 0
    assert hashes[0] == hashes[1]


def test_large_spans_are_exported_in_requests_that_fit(tmp_path: Path) -> None:
    """A batch of a thousand spans can be gigabytes, which no receiver and no import takes."""
    request = trace_request(*range(1, 20))
    for span in request.resource_spans[0].scope_spans[0].spans:
        span.attributes.add(key="said").value.string_value = "word " * 200_000
    lake = Lake.create(tmp_path / "lake")
    lake.append(RAW_SPANS, span_rows([record(1, request)], "c1"))

    lines = tracegrade("export", "--lake", lake.root, "--to=otlp-json").stdout.splitlines()
    with endpoint([(200, b"")]) as (url, requests):
        sent = send(lake, url)

    assert max(map(len, lines)) <= REQUEST_BYTES
    assert len(spans_of("\n".join(lines))) == 19
    assert (sent.stderr, len(requests)) == ("exported 19 spans\n", len(lines))


@contextmanager
def endpoint(answers: Sequence[tuple[int, bytes]]) -> Iterator[tuple[str, list[str]]]:
    """Run a server that gives these answers, the last one again and again; yield URL and log."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
            ExportTraceServiceRequest.FromString(body)
            requests.append(f"{self.path} {self.headers.get('Authorization')}")
            status, answer = answers[min(len(requests), len(answers)) - 1]
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/base/", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(lake: Lake, url: str) -> Ended:
    """Export a lake to an endpoint."""
    to = ("--to=otlp-endpoint", "--endpoint", url, "--header", "Authorization=Bearer x")
    return tracegrade("export", "--lake", lake.root, *to)


def test_a_busy_endpoint_is_asked_again(lake: Lake) -> None:
    """503 is retried; the path is added to the base and headers are sent along."""
    with endpoint([(503, b""), (200, b"")]) as (url, requests):
        sent = send(lake, url)

    assert sent.returncode == 0
    assert set(requests) == {"/base/v1/traces Bearer x"}
    assert len(requests) == 2  # the second file holds only what was sent twice


def partial() -> bytes:
    """Return an answer that rejects one span."""
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = 1
    answer.partial_success.error_message = "too long"
    return answer.SerializeToString()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((400, b""), "did not take the traces: status 400"),
        ((302, b""), "did not take the traces: status 302"),
        ((200, partial()), "the endpoint rejected 1 of the traces: too long"),
        ((200, b"<html>"), "with no OTLP response"),
    ],
    ids=["bad request", "redirect", "partial", "no OTLP"],
)
def test_what_an_endpoint_does_not_take_is_an_error(
    lake: Lake, answer: tuple[int, bytes], said: str
) -> None:
    """Exit code 3, and no second try."""
    with endpoint([answer]) as (url, requests):
        sent = send(lake, url)

    assert sent.returncode == 3
    assert said in sent.stderr
    assert len(requests) == 1


def test_lake_files_prints_the_live_files(lake: Lake) -> None:
    """One absolute path per line, by the short or the folder's name."""
    listed = tracegrade("lake", "files", "--lake", lake.root, "--table", "spans")

    assert listed.stdout.splitlines() == lake.files("raw_spans")
    assert all(Path(line).is_file() for line in listed.stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("lake files --table=steps --lake={lake}", "has no table 'steps'; found: raw_spans"),
        ("lake files --table=../lake/raw_spans --lake={lake}", "has no table '../lake/raw"),
        ("lake files --table=spans --lake={lake}/none", "there is no lake at"),
        ("collect --lake={lake}/a%20b", "must hold no escape such as %20"),
        ("collect --lake={file}", "is a file; choose another path"),
        ("export --to=csv --lake={lake}", "--to must be one of otlp-json, otlp-endpoint"),
        (
            "export --to=otlp-json --table=steps --lake={lake}",
            "--table must be one of spans, logs",
        ),
        ("export --to=otlp-json --trace=7 --lake={lake}", "--trace must be 32 hex digits"),
        ("export --to=otlp-endpoint --lake={lake}", "needs --endpoint"),
        ("export --to=otlp-endpoint --endpoint=ftp://x --lake={lake}", "must be like http://"),
        ("import {lake} --format=csv --lake={lake}", "--format must be one of auto, otlp"),
        ("import {lake}/none --lake={lake}", "1 files or lines could not be read"),
    ],
)
def test_bad_arguments_end_with_code_2(lake: Lake, arguments: str, said: str) -> None:
    """One line says what was given and what would do."""
    ended = tracegrade(*arguments.format(lake=lake.root, file=__file__).split())

    assert ended.returncode == 2
    assert said in ended.stderr.splitlines()[-1]


def test_a_broken_file_of_the_lake_is_named(lake: Lake) -> None:
    """Exit code 3: it is not the user's mistake."""
    file = Path(lake.files("raw_spans")[0])
    file.write_bytes(file.read_bytes()[:100])

    exported = tracegrade("export", "--lake", lake.root, "--to=otlp-json")

    assert exported.returncode == 3
    assert str(file) in exported.stderr


@pytest.mark.parametrize("missing", ["trace_id", "name", "attributes"])
def test_rows_that_nobody_received_are_refused_in_a_sentence(tmp_path: Path, missing: str) -> None:
    """A lake that a program filled may lack what every span has; no traceback tells of it."""
    rows = span_rows([record(1, trace_request(1, 2))], "c1")
    place = rows.schema.get_field_index(missing)
    empty = pa.nulls(len(rows), rows.schema.field(missing).type)
    made = Lake.create(tmp_path / "made")
    made.append(RAW_SPANS, rows.set_column(place, missing, empty))

    ended = tracegrade("export", "--lake", made.root, "--to", "otlp-json")
    assert (ended.returncode, ended.stderr.count("\n")) == (3, 1)
    assert "raw_spans holds rows that are not from OTLP" in ended.stderr
