"""A request that ends landers is found, and does not keep the others from landing."""

import asyncio
from contextlib import closing
from pathlib import Path

from tests.collector.running import landed_ids, trace_request

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.lander import MOST_AFTER_DEATH, MOST_IN_GROUP, Lander
from tracegrade_collector.land.lander_deaths import Deaths, deaths_of
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import WalWriter
from tracegrade_collector.maintenance.verify import verify
from tracegrade_lake import Lake


async def log(folder: WalFolder, count: int, max_bytes: int = 1 << 30) -> None:
    """Log requests of a span each, in segments of so many bytes."""
    writer = WalWriter(folder, folder.recover(), max_bytes=max_bytes, max_age_secs=60)
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
        for name in [segment.name] * 3 + [f"{segment.name}#2"] * 2:
            die(folder, name)
        assert deaths_of(folder.path) == 3
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


def test_the_segment_of_the_request_that_kills_is_found_among_others(tmp_path: Path) -> None:
    """Landers die over all, over its group, over the segment, and twice over the request."""
    count = 2 * MOST_IN_GROUP
    with closing(WalFolder.claim(tmp_path)) as folder:
        asyncio.run(log(folder, count, max_bytes=1))
        names = [segment.name for segment in folder.sealed_segments()]
        (bad, seq), group = (names[70], 71), names[MOST_IN_GROUP:]
        for in_flight in (names, group, [bad], [f"{bad}#{seq}"], [f"{bad}#{seq}"]):
            die(folder, *in_flight)
        land(tmp_path, folder)

    assert landed_ids(tmp_path) == [each for each in range(1, count + 1) if each != seq]
    assert deaths_of(folder.path) == 0
    assert len(list((tmp_path / "quarantine").glob(f"*-{seq}.pb"))) == 1


def test_a_death_over_many_segments_delays_only_a_few_of_them(tmp_path: Path) -> None:
    """A lander that is killed later has landed some already, and knows what it may not trust."""
    count = 2 * MOST_AFTER_DEATH + 1
    with closing(WalFolder.claim(tmp_path)) as folder:
        asyncio.run(log(folder, count, max_bytes=1))
        segments = [segment.name for segment in folder.sealed_segments()]
        assert len(segments) == count
        die(folder, *segments)
        lander = Lander(Lake.create(tmp_path), folder, CollectorConfig())
        rounds = []
        while lander.land_round():
            rounds.append((len(folder.sealed_segments()), lander.cannot_wait))

    assert rounds == [(MOST_AFTER_DEATH + 1, True), (1, True), (0, False)]
    assert landed_ids(tmp_path) == [*range(1, count + 1)]
