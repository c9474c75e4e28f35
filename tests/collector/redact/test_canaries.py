"""Secrets that a client sends everywhere are found nowhere, but where they may be for a while."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pyarrow.parquet as pq
import pytest
from tests.collector.running import JSON, PROTOBUF, Collector, collecting, landed
from tests.commands import tracegrade
from tests.waiting import PATIENCE_SECS

from tracegrade_collector.encoding.otlp_json import write_json

from . import canaries
from .canaries import CANARIES, WORD, Message, found_in

PRIVATE = ("wal", "quarantine")
RPC = "/opentelemetry.proto.collector.{}.v1.{}Service/Export"
SERVICES = {"traces": ("trace", "Trace"), "logs": ("logs", "Logs")}
TRANSPORTS = 3
NO_HEX = f"glpat-{WORD}abcdefgh"


class Run(NamedTuple):
    """What a collector left behind that was sent secrets."""

    lake: Path
    said: bytes
    """All it wrote to stderr, and all it answered."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Send all canaries over all transports, good, refused and malformed; then let it end."""
    folder = tmp_path_factory.mktemp("canaries")
    answers = []
    with stderr_in(folder / "stderr"), collecting(folder / "lake") as collector:
        for first_id, send in ((1, by_protobuf), (100, by_json), (200, by_grpc)):
            for bad_ids in (False, True):
                spans = canaries.spans(first_id, bad_ids=bad_ids)
                answers.append(send(collector, "traces", spans))
                answers.append(send(collector, "logs", canaries.logs(bad_ids=bad_ids)))
        answers += malformed(collector)
        answers.append(collector.request("GET", "/metrics").body)
        code = collector.stop()
    assert code == 0
    return Run(folder / "lake", b"".join(answers) + (folder / "stderr").read_bytes())


@contextmanager
def stderr_in(file: Path) -> Iterator[None]:
    """Let what processes write to stderr during the block go to a file."""
    before = os.dup(2)
    with open(file, "wb") as opened:
        os.dup2(opened.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def by_protobuf(collector: Collector, signal: str, request: Message) -> bytes:
    """Send a request as OTLP/HTTP protobuf; return the answer."""
    return collector.post(f"/v1/{signal}", request.SerializeToString(), PROTOBUF).body


def by_json(collector: Collector, signal: str, request: Message) -> bytes:
    """Send a request as OTLP/JSON; ids that are refused are none in hex either."""
    written = write_json(request)
    for span in spans_in(written):
        if span["traceId"] == b"short".hex():
            span["traceId"] = span["links"][0]["traceId"] = NO_HEX
            span["links"][0]["spanId"] = "no hex"
    return collector.post(f"/v1/{signal}", json.dumps(written).encode(), JSON).body


def spans_in(written: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the spans of a request in OTLP/JSON."""
    for resource in written.get("resourceSpans", ()):
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def by_grpc(collector: Collector, signal: str, request: Message) -> bytes:
    """Send a request over gRPC; return the answer."""
    with grpc.insecure_channel(collector.grpc) as channel:
        call = channel.unary_unary(RPC.format(*SERVICES[signal]))
        answer: bytes = call(request.SerializeToString(), timeout=PATIENCE_SECS)
    return answer


def malformed(collector: Collector) -> Iterator[bytes]:
    """Send requests with canaries that cannot be decoded; yield the answers."""
    whole = canaries.spans(300).SerializeToString()
    yield collector.post("/v1/traces", whole[:-1], PROTOBUF).body
    for text in (canary.text for canary in CANARIES):
        flawed = {"resourceSpans": [{"scopeSpans": [{"spans": [{"flags": text, text: 1}]}]}]}
        yield collector.post("/v1/traces", json.dumps(flawed).encode(), JSON).body
        yield collector.post("/v1/traces", f'{{"{WORD}": 1, "{WORD}": 2}}'.encode(), JSON).body
    card = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"flags":4539578763621486}]}]}]}'
    yield collector.post("/v1/traces", card, JSON).body
    with grpc.insecure_channel(collector.grpc) as channel, suppress(grpc.RpcError):
        channel.unary_unary(RPC.format(*SERVICES["traces"]))(whole[:-1], timeout=PATIENCE_SECS)


def files(lake: Path) -> Iterator[Path]:
    """Yield all files of a lake that are not in its private folders."""
    for path in sorted(lake.rglob("*")):
        if path.is_file() and path.relative_to(lake).parts[0] not in PRIVATE:
            yield path


def test_no_secret_is_in_any_file(run: Run) -> None:
    """Neither in the raw bytes nor in what Parquet's readers make of them."""
    found = {}
    for path in files(run.lake):
        content = path.read_bytes()
        rows = pq.read_table(path, partitioning=None).to_pylist() if is_parquet(path) else []
        secrets = found_in(content) + [each for row in rows for each in found_in(row)]
        if secrets:
            found[str(path)] = secrets

    assert found == {}


def is_parquet(path: Path) -> bool:
    """Return whether a file is one of a table's."""
    return path.suffix == ".parquet"


def test_everything_sent_is_there(run: Run) -> None:
    """Redaction drops nothing: each span and log record is a row or a dead letter."""
    letters = [
        json.loads(line)
        for file in (run.lake / "dead_letters").iterdir()
        for line in file.read_text().splitlines()
    ]
    refused = [letter["signal"] for letter in letters]

    assert landed(run.lake).num_rows == refused.count("traces") == TRANSPORTS * len(CANARIES)
    assert landed(run.lake, "raw_logs").num_rows == 2 * TRANSPORTS * len(CANARIES)
    assert refused.count("logs") == 2 * TRANSPORTS * len(CANARIES)


def test_each_row_says_what_was_redacted(run: Run) -> None:
    """Each place of a span is named with the rule of its canary."""
    rows = landed(run.lake).sort_by("span_id").to_pylist()
    for row, (rule, _, _) in zip(rows, CANARIES, strict=False):
        paths = {each["path"] for each in row["redacted"] if each["rule"] == rule}

        assert paths >= PLACES
        named = {each["path"] for each in row["redacted"] if each["rule"] == "named"}
        assert named >= {f"attributes.{key}" for key in canaries.NAMED_KEYS}


PLACES = {
    *("name", "trace_state", "status_message", "scope_name", "scope_version"),
    *("resource_schema_url", "scope_schema_url", "service_name", "resource_entity_refs"),
    *("attributes.plain", "attributes.nested", "attributes.escaped"),
    *("resource_attributes.plain", "resource_attributes.process.command_args"),
    *("scope_attributes.plain", "events[0].name", "events[0].attributes.plain"),
    *("events[0].attributes.exception.stacktrace", "links[0].trace_state"),
    *("links[0].attributes.plain", "duplicate_attributes.span.plain"),
}


def test_refused_ids_are_shown_as_they_were_sent(run: Run) -> None:
    """Text that is not hex is lost in the message; a secret in its position is not shown."""
    text = "".join(file.read_text() for file in (run.lake / "dead_letters").iterdir())

    assert '"traceId": "[redacted:api_key]"' in text
    assert '"spanId": "no hex"' in text
    assert '"traceId": "00"' not in text


def test_nothing_that_is_said_quotes_a_secret(run: Run) -> None:
    """Neither log lines, answers nor metrics hold what was sent."""
    assert found_in(run.said) == []
    assert b"quarantined_requests_total" in run.said


def test_malformed_requests_are_kept_for_their_owner_alone(run: Run) -> None:
    """They hold unredacted content, so only these folders may hold it."""
    kept = list((run.lake / "quarantine").iterdir())

    assert found_in(b"".join(path.read_bytes() for path in kept)) == canaries.SECRETS
    for folder in PRIVATE:
        assert stat.S_IMODE((run.lake / folder).stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


@pytest.mark.parametrize(
    "command",
    [
        ("export", "--to=otlp-json"),
        ("export", "--to=otlp-json", "--table=logs"),
        ("sql", "SELECT * FROM spans"),
        ("sql", "SELECT * FROM raw_logs"),
        ("lake", "verify"),
    ],
    ids=" ".join,
)
def test_commands_show_no_secret(run: Run, command: tuple[str, ...]) -> None:
    """What leaves the lake again is clean too."""
    ended = tracegrade(*command, f"--lake={run.lake}")

    assert ended.returncode == 0
    assert found_in(ended.stdout + ended.stderr) == []
    assert "redacted" in ended.stdout or "verify" in command


def test_import_redacts_and_quotes_nothing(tmp_path: Path) -> None:
    """Files go the same way as requests, and so do complaints about them."""
    file = tmp_path / "traces.jsonl"
    good, bad = (write_json(canaries.spans(1, bad_ids=bad_ids)) for bad_ids in (False, True))
    flawed = {"resourceSpans": [{"scopeSpans": [{"spans": [{"flags": WORD}]}]}]}
    lines = [*map(json.dumps, (good, bad, flawed, {WORD: WORD})), f'{{"{WORD}']
    file.write_text("\n".join(lines))
    ended = tracegrade("import", file, f"--lake={tmp_path / 'lake'}")

    assert ended.returncode == 2
    assert landed(tmp_path / "lake").num_rows == len(CANARIES)
    assert found_in(landed(tmp_path / "lake").to_pylist()) == []
    assert found_in(ended.stdout + ended.stderr) == []
