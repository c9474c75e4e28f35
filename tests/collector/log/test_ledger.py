"""The ledger's totals change with the table's commit, and every item is in one of them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector.running import collecting, landed_ids, log_body, trace_body
from tests.waiting import wait_until

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log.ledger import Account, Ledger, Totals, UndecodableCounts, read_ledger
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import WalWriter
from tracegrade_lake import Lake
from tracegrade_lake.errors import Fenced

ADDED = Totals(through_seq=7, requests=2, items=9, landed=6, rejected={"span_id": 3})


def ledger(state: Path, landed_seq: int) -> Ledger:
    """Return the ledger as a lander that starts finds it."""
    return Ledger(state, "c", Signal.TRACES, landed_seq)


def test_totals_are_those_of_the_commit_that_is_in_the_table(tmp_path: Path) -> None:
    """A crash before the commit leaves the old ones true, one after it the new ones."""
    ledger(tmp_path, 0).prepare(ADDED)

    assert ledger(tmp_path, 0).totals == Totals()
    assert ledger(tmp_path, 7).totals == ADDED


def test_totals_add_up(tmp_path: Path) -> None:
    """Reasons too; what reaches further decides how far they reach."""
    kept = ledger(tmp_path, 0)
    for through_seq in (7, 9):
        kept.prepare(ADDED.plus(Totals(through_seq=through_seq)))
        kept.commit()

    assert ledger(tmp_path, 9).totals == Totals(
        through_seq=9, requests=4, items=18, landed=12, rejected={"span_id": 6}
    )
    assert kept.totals.unaccounted == 0


def test_lost_ledger_says_from_where_it_counts(tmp_path: Path) -> None:
    """It does not have rows that landed before, and they do not count as surplus."""
    assert ledger(tmp_path, 7).totals == Totals(through_seq=7, since_seq=7)


def test_ledger_that_does_not_know_a_commit_is_a_copy(tmp_path: Path) -> None:
    """Another collector has landed more under this id."""
    ledger(tmp_path, 0).prepare(ADDED)

    with pytest.raises(Fenced, match="landed request 8"):
        ledger(tmp_path, 8)


def test_undecodable_requests_are_counted_by_many_threads(tmp_path: Path) -> None:
    """Each is on the disk when it is counted, and a restart goes on from there."""
    for _ in range(2):
        counts = UndecodableCounts(tmp_path, "c")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(counts.add, [Signal.LOGS] * 100))

    assert (tmp_path / "ledger" / "c-undecodable.json").read_text() == '{"logs": 200}'


def accounts(lake: Lake) -> dict[Signal, Account]:
    """Return the accounts of the one collector."""
    return {each.signal: each for each in read_ledger(lake.state, lake.transaction_version)}


def test_pending_items_are_those_that_have_not_landed(tmp_path: Path) -> None:
    """Also while some records of a signal have landed and others have not."""
    with collecting(tmp_path, max_segment_age_secs=0.1, land_every_secs=0.1) as collector:
        collector.post("/v1/traces", trace_body(1, 2))
        wait_until(lambda: accounts(Lake.open(tmp_path))[Signal.TRACES].pending_items == 0)
        collector.halt_lander()
        collector.post("/v1/traces", trace_body(3, 4, 5))
        collector.post("/v1/logs", log_body("a"))
        found = accounts(Lake.open(tmp_path))
        collector.kill()

    traces, logs = found[Signal.TRACES], found[Signal.LOGS]
    assert (traces.totals.landed, traces.pending_requests, traces.pending_items) == (2, 1, 3)
    assert (traces.received_items, logs.received_items, logs.pending_items) == (5, 1, 1)


def test_landed_counts_survive_a_restart(tmp_path: Path) -> None:
    """`/metrics` goes on where it was; refused items and garbage are in the ledger too."""
    request = ExportTraceServiceRequest.FromString(trace_body(1, 2))
    request.resource_spans[0].scope_spans[0].spans.add(name="no ids")
    with collecting(tmp_path) as collector:
        collector.post("/v1/traces", request.SerializeToString())
        collector.post("/v1/traces", b"\xff\xff")
        collector.stop()
    with collecting(tmp_path) as collector:
        text = collector.request("GET", "/metrics").body.decode()
        collector.stop()

    account = accounts(Lake.open(tmp_path))[Signal.TRACES]
    assert 'tracegrade_collector_landed_rows_total{signal="traces"} 2\n' in text
    assert 'tracegrade_collector_dead_letters_total{signal="traces"} 1\n' in text
    assert "tracegrade_collector_landing_lag_secs 0\n" in text
    assert (account.totals.items, sum(account.totals.rejected.values())) == (3, 1)
    assert (account.totals.unaccounted, account.undecodable_requests) == (0, 1)


async def log_three(folder: WalFolder) -> None:
    """Log three requests, each in a segment of its own."""
    writer = WalWriter(folder, folder.recover(), max_bytes=1, max_age_secs=60)
    for span_id in (1, 2, 3):
        body = trace_body(span_id)
        entry = Entry(span_id, Signal.TRACES, Encoding.PROTOBUF, "", False, body, 1)
        await writer.append(entry)
    await writer.close()


def test_what_is_staged_ahead_lands_once(tmp_path: Path) -> None:
    """A lander that dies before its round leaves files; the next removes them and begins anew."""
    lake, config = Lake.create(tmp_path), CollectorConfig(max_segment_bytes=1)
    with closing(WalFolder.claim(tmp_path)) as folder:
        asyncio.run(log_three(folder))
        dead = Lander(lake, folder, config)
        dead.stage_ahead()
        wait_until(lambda: list(tmp_path.glob("raw_spans/_stage/*.parquet")))
        lander = Lander(lake, folder, config)
        remnants = len(list(tmp_path.glob("raw_spans/_stage/*.parquet")))
        lander.stage_ahead()
        before = lake.version("raw_spans")
        lander.land_round()

    assert (remnants, before) == (0, None)
    assert landed_ids(tmp_path) == [1, 2, 3]
    assert accounts(lake)[Signal.TRACES].totals.landed == 3


def test_damage_of_the_log_is_counted_once(tmp_path: Path) -> None:
    """Also if the lander dies after it committed the spans of a segment, and before its logs."""
    lake, config = Lake.create(tmp_path), CollectorConfig(max_segment_bytes=1)
    with closing(WalFolder.claim(tmp_path)) as folder:
        asyncio.run(log_three(folder))
        for segment in folder.sealed_segments()[:2]:
            segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")
        dead = Lander(lake, folder, config)
        dead.stage_ahead()
        dead._signals[0].commit(1)
        while Lander(lake, folder, config).land_round():
            pass

    assert accounts(lake)[Signal.TRACES].totals.damaged_pieces == 2
    assert landed_ids(tmp_path) == [3]
