"""Maintenance inside a running collector: on schedule, one at a time, for every tenant's lake."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.collector.running import collecting, trace_body
from tests.lake.lake_rows import land, live_names, numbers, span, today
from tests.waiting import wait_until

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import BadConfig
from tracegrade_collector.receive.maintenance_process import maintain
from tracegrade_collector.receive.tenant_pipeline import LakeLocation
from tracegrade_lake import Lake
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock

AT_ONCE = CollectorConfig(compact_after_secs=0.001)


def lake_of(root: Path) -> Lake:
    """Return a lake with three files of a date that is over."""
    lake = Lake.create(root)
    for seq in (1, 2, 3):
        land(lake, [span(seq, seq, collector_id="import")])
    return lake


def test_a_running_collector_compacts(tmp_path: Path) -> None:
    """While it receives and lands, without an operator's action."""
    lake = lake_of(tmp_path)
    with collecting(
        tmp_path, compact_every_secs=0.2, compact_after_secs=0.1, land_every_secs=0.1
    ) as collector:
        collector.post("/v1/traces", trace_body(1000))
        wait_until(lambda: any(name.startswith("compacted") for name in live_names(lake)))
        wait_until(lambda: len(numbers(lake)) == 4)
        assert collector.stop() == 0

    assert len(live_names(lake)) == 2


@pytest.mark.slow
def test_a_running_collector_lets_dates_expire(tmp_path: Path) -> None:
    """Those older than the retention; what arrives stays."""
    lake = lake_of(tmp_path)
    options = {"compact_every_secs": 0.2, "land_every_secs": 0.1, "retention_days": 30.0}
    with collecting(tmp_path, **options) as collector:
        collector.post("/v1/traces", trace_body(1000))
        wait_until(lambda: len(numbers(lake)) == 1)
        collector.stop()

    assert {file.date for file in lake.live_files("raw_spans")} == {str(today())}


def test_dates_older_than_the_retention_expire(tmp_path: Path) -> None:
    """What came today stays."""
    lake = lake_of(tmp_path)
    land(lake, [span(1000, 4, date=today())])

    assert maintain(LakeLocation(str(tmp_path), tmp_path), CollectorConfig(retention_days=30.0))
    assert numbers(lake) == [1000]


def test_each_tenants_lake_is_maintained(tmp_path: Path) -> None:
    """They are lakes of their own, below the lake."""
    lakes = [lake_of(tmp_path), lake_of(tmp_path / "tenants/acme")]
    order = {
        "lake": str(tmp_path),
        "state": str(tmp_path),
        "options": asdict(AT_ONCE),
    }
    program = [sys.executable, "-m", "tracegrade_collector.receive.maintenance_process"]
    subprocess.run([*program, json.dumps(order)], check=True)

    assert [len(live_names(lake)) for lake in lakes] == [1, 1]


def test_who_maintains_already_is_left_alone(tmp_path: Path) -> None:
    """A person's `lake compact` goes first; the schedule comes again."""
    lake = lake_of(tmp_path)
    location = LakeLocation(str(tmp_path), tmp_path)
    with hold_maintenance_lock(lake.state):
        assert maintain(location, AT_ONCE)
        assert len(live_names(lake)) == 3
    assert maintain(location, AT_ONCE)
    assert len(live_names(lake)) == 1


def test_what_cannot_be_maintained_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One line; the process ends with an error and the collector goes on."""
    lake = lake_of(tmp_path)
    Path(lake.files("raw_spans")[0]).write_bytes(b"")

    assert not maintain(LakeLocation(str(tmp_path), tmp_path), AT_ONCE)
    assert "cannot be read" in caplog.text


def test_zero_means_never() -> None:
    """Only for the two options where it has a meaning."""
    assert CollectorConfig.load(None, {"compact_every_secs": 0, "retention_days": 0})
    with pytest.raises(BadConfig, match="retention_days must be >= 0, got -1"):
        CollectorConfig.load(None, {"retention_days": -1})
