"""Requests become rows in pieces that are bounded by what they hold, not by how they were sent."""

import asyncio
import json
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector.encoding.wire_bytes import field
from tests.collector.otlp_samples import log_requests, span_requests
from tests.collector.running import landed, landed_files, landed_ids, trace_request

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_collector.encoding.request_limits import count_messages, messages_of
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import WalWriter
from tracegrade_collector.maintenance.verify import verify
from tracegrade_collector.rows import pieces
from tracegrade_collector.rows.pieces import most_values
from tracegrade_lake import Lake

MANY = 400


def request(span_id: int, attributes: int = MANY) -> bytes:
    """Return a request of one span with so many empty attributes."""
    ids = field(1, b"t" * 16) + field(2, span_id.to_bytes(8))
    return field(1, field(2, field(2, ids + b"\x4a\0" * attributes)))


@given(span_requests | log_requests)
@settings(max_examples=25)
def test_no_request_holds_more_than_is_said(
    found: ExportTraceServiceRequest | ExportLogsServiceRequest,
) -> None:
    """The bound is one, however the values are written."""
    body, text = found.SerializeToString(), json.dumps(write_json(found)).encode()
    values = count_messages(body, messages_of(found.DESCRIPTOR))

    assert values <= most_values(body, Encoding.PROTOBUF)
    assert values <= most_values(text, Encoding.JSON)


@pytest.mark.parametrize("attributes", [1, 2**15, 2**15 + 7, 10**5])
def test_bound_of_empty_values_is_near_their_number(attributes: int) -> None:
    """Two bytes each, over more than what is looked at in one go."""
    assert attributes <= most_values(request(1, attributes), Encoding.PROTOBUF) <= attributes + 10


@given(st.lists(st.integers(0, 100)), st.integers(1, 400))
@settings(max_examples=25)
def test_pieces_are_bounded_and_lose_nothing(sizes: list[int], most_bytes: int) -> None:
    """A piece holds what it may, or is one request; all come in their order."""
    bodies = [b"\x4a\0" * size for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE_VALUES", 120)
        cut = pieces.pieces(iter(bodies), lambda body: (body, Encoding.PROTOBUF), most_bytes)
        found = [list(piece) for piece in cut]

    assert [body for piece in found for body in piece] == bodies
    for piece in found:
        assert len(piece) == 1 or sum(map(len, piece)) // 2 <= 120
        assert sum(map(len, piece[:-1])) < most_bytes


async def log(folder: WalFolder, bodies: list[bytes]) -> None:
    """Log requests of a span each, in one segment."""
    writer = WalWriter(folder, folder.recover(), max_bytes=1 << 30, max_age_secs=60)
    for body in bodies:
        await writer.append(Entry(1, Signal.TRACES, Encoding.PROTOBUF, "", False, body, 1))
    await writer.close()


def test_a_segment_of_many_values_lands_in_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One commit lands all of it, each request once, with all that it held."""
    monkeypatch.setattr(pieces, "PIECE_VALUES", 3 * MANY)
    lake = Lake.create(tmp_path)
    with closing(WalFolder.claim(tmp_path)) as folder:
        asyncio.run(log(folder, [request(span_id) for span_id in range(1, 8)]))
        lander = Lander(lake, folder, CollectorConfig())
        assert lander.land_round()
        assert not lander.land_round()

    assert len(landed_files(tmp_path)) == 4
    assert landed_ids(tmp_path) == list(range(1, 8))
    held = landed(tmp_path)["duplicate_attributes"].to_pylist()
    assert [len(each) for each in held] == [MANY - 1] * 7
    assert verify(lake, lambda _: None, deep=True).wrong == []


def spans_of_one_resource(encoding: Encoding) -> bytes:
    """Return a request of a thousand spans whose resource says a kilobyte."""
    request = trace_request(*range(1, 1001))
    said = request.resource_spans[0].resource.attributes.add(key="process.command_line")
    said.value.string_value = "x" * 1000
    text = json.dumps(write_json(request)).encode()
    return text if encoding is Encoding.JSON else request.SerializeToString()


@pytest.mark.parametrize("encoding", Encoding)
def test_what_rows_repeat_of_a_resource_is_bounded(encoding: Encoding) -> None:
    """It is sent once and stands in each row, so a piece holds fewer of such requests."""
    body = spans_of_one_resource(encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE_REPEATED_BYTES", 2_500_000)
        cut = pieces.pieces([body] * 5, lambda each: (each, encoding), 1 << 30)
        found = [len(piece) for piece in cut]

    assert found == [2, 2, 1]
