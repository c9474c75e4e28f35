"""A real lander that is killed again and again over one request: all others land."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.collector.running import Collector, collecting, landed, trace_body, trace_request
from tests.waiting import wait_until

from tracegrade_collector.land.lander_deaths import DEATHS_BEFORE_REQUESTS, MOST_DEATHS
from tracegrade_collector.log.wal_folder import LANDING_NAME
from tracegrade_collector.maintenance.verify import verify
from tracegrade_lake import Lake

SPANS = range(10, 60_010)
"""Of the request that kills, which takes long enough to be seen in flight."""


def is_in_flight(lake: Path, end: str, deaths: int) -> bool:
    """Return whether one thing is worked on, over which so many landers died before."""
    (path,) = lake.glob(f"wal/*/{LANDING_NAME}")
    found = json.loads(path.read_bytes())
    names: list[str] = found["in_flight"]
    is_it = len(names) == 1 and names[0].endswith(end)
    return is_it and found["deaths"].get(names[0], 0) == deaths


def kill_lander(collector: Collector, end: str, deaths: int) -> None:
    """Kill the lander as soon as it works on what has a name with this end."""
    wait_until(lambda: any(collector.lake.glob(f"wal/*/{LANDING_NAME}")))
    wait_until(lambda: is_in_flight(collector.lake, end, deaths))
    pid = collector.lander_pid()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: pid not in collector.lander_pids())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_request_over_which_landers_die_keeps_no_other_from_landing(tmp_path: Path) -> None:
    """Readiness tells of the deaths meanwhile, and `verify` of the request for good."""
    with collecting(tmp_path, max_segment_age_secs=3, land_every_secs=0.1) as collector:
        for body in (trace_body(1), trace_request(*SPANS).SerializeToString(), trace_body(2)):
            assert collector.post("/v1/traces", body).status == 200
        for end, most in ((".wal", DEATHS_BEFORE_REQUESTS), ("#2", MOST_DEATHS)):
            for deaths in range(most):
                kill_lander(collector, end, deaths)
        answer = collector.request("GET", "/readyz")
        assert (answer.status, b"the lander died" in answer.body) == (503, True)
        wait_until(lambda: landed(tmp_path).num_rows == 2)
        assert collector.stop() == 0

    found = verify(Lake.open(tmp_path), lambda _: None)
    assert found.wrong == []
    (line,) = [each for each in found.lines if each.received]
    assert (line.landed, line.quarantined, line.unaccounted) == (2, len(SPANS), 0)
    assert any("1 requests were accepted and could not land" in note for note in found.notes)
    assert len(list((tmp_path / "quarantine").glob("*-2.pb"))) == 1
