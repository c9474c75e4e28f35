"""A request that ends landers is found, and does not keep the others from landing."""

import asyncio
from contextlib import closing
from pathlib import Path

from tests.collector.running import landed_ids, trace_request

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.land.lander_deaths import Deaths, deaths_of
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import WalWriter
from tracegrade_collector.maintenance.verify import verify
from tracegrade_lake import Lake


async def log(folder: WalFolder, count: int) -> None:
    """Log requests of a span each, in one segment."""
    writer = WalWriter(folder, folder.recover(), max_bytes=1 << 30, max_age_secs=60)
    for span_id in range(1, count + 1):
        body = trace_request(span_id).SerializeToString()
        await writer.append(Entry(1, Signal.TRACES, Encoding.PROTOBUF, "", False, body, 1))
    await writer.close()


def die(folder: WalFolder, *names: str) -> None:
    """Leave behind what a lander leaves that is killed with these in flight."""
    Deaths(folder.path).in_flight(names)


def land(lake: Path, folder: WalFolder) -> None:
    """Land all that is sealed."""
    lander = Lander(Lake.create(lake), folder, CollectorConfig())
    while lander.land_round():
        pass


def test_the_request_that_kills_is_set_aside_and_all_others_land(tmp_path: Path) -> None:
    """Received are landed and quarantined ones, and `verify` tells of it."""
    with closing(WalFolder.claim(tmp_path)) as folder:
        asyncio.run(log(folder, 3))
        (segment,) = folder.sealed_segments()
        for name in [segment.name] * 2 + [f"{segment.name}#2"] * 2:
            die(folder, name)
        assert deaths_of(folder.path) == 2
        land(tmp_path, folder)
        found = verify(Lake.open(tmp_path), lambda _: None)

    assert landed_ids(tmp_path) == [1, 3]
    assert found.wrong == []
    (line,) = [each for each in found.lines if each.received]
    assert (line.received, line.landed, line.quarantined, line.unaccounted) == (3, 2, 1, 0)
    assert any("1 requests were accepted and could not land" in note for note in found.notes)
    assert len(list((tmp_path / "quarantine").glob("*-2.pb"))) == 1


def test_landers_killed_for_other_reasons_cost_nothing(tmp_path: Path) -> None:
    """However often a segment was in flight, and each of its requests once."""
    with closing(WalFolder.claim(tmp_path)) as folder:
        asyncio.run(log(folder, 3))
        (segment,) = folder.sealed_segments()
        for name in [segment.name] * 5 + [f"{segment.name}#{seq}" for seq in (1, 2, 3)]:
            die(folder, name)
        land(tmp_path, folder)

    assert landed_ids(tmp_path) == [1, 2, 3]
    assert deaths_of(folder.path) == 0
