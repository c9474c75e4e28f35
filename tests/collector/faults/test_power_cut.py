"""Power cuts at every moment of receiving and landing, in a model of a disk.

Real code recovers from each folder that a machine may come back with: what was acknowledged lands
exactly once, every table is readable, every item is accounted for. `POWER_CUTS=all` tries all of
them (`make chaos`), otherwise a sample (`POWER_CUT_SEED` takes another). The last test takes syncs
out, one at a time, and the model must notice.
"""

import asyncio
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.collector.running import landed_ids, log_body, trace_request

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log import wal_folder, wal_writer
from tracegrade_collector.log.ledger import read_ledger
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import WalWriter
from tracegrade_lake import Lake, commit, files, folder

from .power_cuts import Fate, Moment, Recorder, after_power_cut, all_cuts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds open files in /proc")

SAMPLE = 40
MIXED = 6
"""Cuts of each moment in which every name and every file has a fate of its own."""

AFTERWARDS = 1_000
"""The id of a span that is sent when all is well again."""

CONFIG = CollectorConfig(max_segment_bytes=2_500)  # two or three requests


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints are made every other commit."""
    monkeypatch.setitem(commit.CONFIGURATION, "delta.checkpointInterval", "2")


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory: nothing here needs a real disk."""
    in_memory = Path("/dev/shm")  # noqa: S108 - `mkdtemp` makes it private
    path = Path(tempfile.mkdtemp(dir=in_memory if in_memory.is_dir() else None))
    yield path
    shutil.rmtree(path)


def span_entry(span_id: int, size: int) -> Entry:
    """Return a request with one good span of about this size, and one that is refused."""
    request = trace_request(span_id)
    spans = request.resource_spans[0].scope_spans[0].spans
    spans[0].attributes.add(key="text").value.string_value = "x" * size
    spans.add(trace_id=b"short", name="refused")
    body = request.SerializeToString()
    return Entry(1_700_000_000_000_000_000, Signal.TRACES, Encoding.PROTOBUF, "", True, body, 2)


def log_entry(text: str) -> Entry:
    """Return a request with one log record."""
    return Entry(
        1_700_000_000_000_000_000, Signal.LOGS, Encoding.PROTOBUF, "", False, log_body(text), 1
    )


async def receive(claimed: WalFolder, recorder: Recorder, span_ids: range) -> None:
    """Log some requests, each acknowledged before the next, over more than one segment."""
    writer = WalWriter(claimed, claimed.recover(), max_bytes=2_500, max_age_secs=60.0)
    for span_id in span_ids:
        await writer.append(span_entry(span_id, size=300 * span_id))
        recorder.acknowledge(span_id)
    await writer.append(log_entry(f"log {span_ids[0]}"))
    await writer.close()


def record(root: Path) -> Recorder:
    """Receive and land three times over, and return what was seen of it."""
    root.mkdir()
    recorder = Recorder(root)
    with recorder.recording():
        lake = Lake.create(root)
        with closing(WalFolder.claim(lake.state)) as claimed:
            for first in (1, 4, 7):
                asyncio.run(receive(claimed, recorder, range(first, first + 3)))
                lander = Lander(lake, claimed, CONFIG)
                while lander.land_round():
                    pass
    return recorder


def recover(root: Path) -> None:
    """Do what a collector does that starts on this folder: land what is left, and go on."""
    lake = Lake.create(root)
    with closing(WalFolder.claim(lake.state)) as claimed:
        asyncio.run(receive(claimed, Recorder(root), range(AFTERWARDS, AFTERWARDS + 1)))
        claimed.seal()
        lander = Lander(lake, claimed, CONFIG)
        while lander.land_round():
            pass


def fault_after(moment: Moment, root: Path) -> str:
    """Return what is wrong with a folder after recovery; nothing if all is well."""
    lake = Lake.open(root)
    found = Counter(landed_ids(root))
    lost = sorted(each for each in moment.acknowledged | {AFTERWARDS} if not found[each])
    doubled = sorted(each for each, count in found.items() if count > 1)
    accounts = read_ledger(lake.state, lake.transaction_version)
    totals = [account.totals for account in accounts if account.signal is Signal.TRACES]
    landed = sum(each.landed for each in totals)
    unaccounted = sum(account.totals.unaccounted for account in accounts)
    wrong = {
        "lost": lost,
        "doubled": doubled,
        "unaccounted": unaccounted,
        "rows that the ledger does not know": found.total() - landed,
    }
    return ", ".join(f"{fact} {value}" for fact, value in wrong.items() if value)


def faults(
    recorder: Recorder, cuts: list[tuple[Moment, Fate, int]], scratch: Path
) -> Iterator[str]:
    """Yield what is wrong after these power cuts."""
    root = scratch / "cut"
    for moment, fate, seed in cuts:
        chance = random.Random(seed)  # noqa: S311 - no secret
        after_power_cut(moment, recorder.root_inode, fate, chance, root)
        try:
            recover(root)
            fault = fault_after(moment, root)
        except Exception as error:  # noqa: BLE001 - any error is a fault
            fault = repr(error)
        if fault:
            yield f"{moment.where}, {fate.value}, seed {seed}: {fault}"
        shutil.rmtree(root)


def chosen_cuts(recorder: Recorder, seed: int) -> list[tuple[Moment, Fate, int]]:
    """Return all power cuts, or a sample of them."""
    cuts = all_cuts(recorder, seed, MIXED)
    if os.environ.get("POWER_CUTS") == "all":
        return cuts
    return random.Random(seed).sample(cuts, SAMPLE)  # noqa: S311 - no secret


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_power_cut_loses_and_doubles_nothing(memory: Path) -> None:
    """The result does not depend on the unsynced bytes that the disk kept."""
    seed = int(os.environ.get("POWER_CUT_SEED", "1"))
    recorder = record(memory / "lake")
    cuts = chosen_cuts(recorder, seed)
    sys.stdout.write(f"POWER_CUT_SEED={seed}, {len(recorder.moments)} moments, {len(cuts)} cuts\n")

    assert list(faults(recorder, cuts, memory)) == []


def nothing(*_: Any, **__: Any) -> None:
    """Replace a sync that the code omits."""


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    ("where", "sync"),
    [
        (wal_writer, "sync_data"),
        (wal_folder, "sync_folder"),
        (files, "sync_data"),
        (folder, "sync_folder"),
        (folder.TableFolder, "sync_log"),
    ],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_forgotten_sync_is_noticed(
    memory: Path, monkeypatch: pytest.MonkeyPatch, where: Any, sync: str
) -> None:
    """The model is worth something: without any one of the syncs it finds a loss."""
    real: Callable[..., None] = getattr(where, sync)
    monkeypatch.setattr(where, sync, nothing)
    recorder = record(memory / "lake")
    monkeypatch.setattr(where, sync, real)
    cuts = [cut for cut in all_cuts(recorder, 1, 2) if cut[1] in (Fate.LOST, Fate.EMPTY)]
    random.Random(1).shuffle(cuts)  # noqa: S311 - no secret; the sync may matter late alone

    assert next(faults(recorder, cuts, memory), None)
