"""A process ends at each named point of receiving and landing; nothing acknowledged suffers."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.collector.clients import FIRST_ID_OF_PATIENT, Client, own_port
from tests.collector.running import Collector, collecting, landed_ids
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.log.ledger import read_ledger
from tracegrade_lake import Lake
from tracegrade_lake.crash_points import EXIT_CODE, LANDING, POINTS, RECEIVING, VARIABLE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

OFTEN = {"max_segment_age_secs": 0.05, "land_every_secs": 0.05}
BEFORE_IT_LISTENS = {"segment_created": 1, "segment_named": 1, "file_written": 2, "file_synced": 2}
"""How often the receiver comes to these before; the time after is meant."""


FIRST = ("round_committed",)
OTHERS = [point for point in POINTS if point not in FIRST]


def let_die(collector: Collector, point: str) -> None:
    """Wait until the receiver, or its lander, has ended at the point."""
    if point in RECEIVING:
        assert collector.process.wait(PATIENCE_SECS) == EXIT_CODE
        return
    seen: set[int] = set()

    def has_died() -> bool:
        running = collector.lander_pids()
        seen.update(running)
        return not collector.is_running or not seen.issubset(running)

    wait_until(has_died)


@pytest.mark.parametrize("point", slow_after(len(FIRST), [*FIRST, *OTHERS]))
def test_acknowledged_lands_exactly_once(
    tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process ends at the point; after another start each item is accounted for."""
    monkeypatch.setenv(VARIABLE, f"{point}:{BEFORE_IT_LISTENS.get(point, 0) + 1}")
    http = f"--http=127.0.0.1:{own_port()}"
    with collecting(tmp_path, http, **OFTEN) as collector:
        hasty = Client(collector.port, 1, 1, sends_again=False)
        patient = Client(collector.port, FIRST_ID_OF_PATIENT, 2, sends_again=True)
        hasty.start()
        patient.start()
        let_die(collector, point)
        if collector.is_running:
            collector.kill()
    hasty.stopping.set()
    hasty.join()
    monkeypatch.delenv(VARIABLE)
    with collecting(tmp_path, http, **OFTEN) as successor:
        patient.stopping.set()
        patient.join()
        exit_code = successor.stop()

    raw = Counter(landed_ids(tmp_path))
    spans = Counter(landed_ids(tmp_path, with_resent=False))
    assert exit_code == 0
    assert hasty.acknowledged or patient.acknowledged
    assert [each for each in hasty.acknowledged if raw[each] != 1] == []
    assert [each for each in hasty.sent if raw[each] > 1] == []
    assert [each for each in patient.acknowledged if spans[each] != 1] == []
    lake = Lake.open(tmp_path)
    accounts = read_ledger(lake.state, lake.transaction_version)
    assert [account.totals.unaccounted for account in accounts] == [0, 0]
    assert [account.pending_items for account in accounts] == [0, 0]
    assert sum(each.totals.landed for each in accounts if each.signal is Signal.TRACES) == len(
        landed_ids(tmp_path)
    )


def test_every_point_is_reached_somewhere() -> None:
    """A name that no code knows would test nothing."""
    package = Path(sys.modules[Collector.__module__].__file__ or "").parents[2] / "collector"
    code = "".join(path.read_text() for path in package.rglob("*.py"))

    assert [point for point in (*RECEIVING, *LANDING) if f'reach("{point}")' not in code] == []
