"""Several collectors on one lake in a folder, under load and beside compaction."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.collector.running import PROTOBUF, Collector, collecting, landed, landed_ids, trace_body

from tracegrade_lake import Lake
from tracegrade_lake.maintenance.compaction import CompactOptions, compact

COLLECTORS = 3
REQUESTS = 20
SPANS = 25


def load(collector: Collector, number: int) -> None:
    """Send requests; each must be acknowledged."""
    first = 1 + number * REQUESTS * SPANS
    for start in range(first, first + REQUESTS * SPANS, SPANS):
        body = trace_body(*range(start, start + SPANS))
        assert collector.post("/v1/traces", body, PROTOBUF).status == 200
        time.sleep(0.1)  # so that there are many commits to get in the way of


@pytest.mark.slow
def test_collectors_and_compaction_share_a_lake(tmp_path: Path) -> None:
    """Every acknowledged span has one row, under the id of the collector that took it."""
    lake = tmp_path / "lake"
    options = {"max_segment_age_secs": 0.1, "land_every_secs": 0.1}
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        collectors = [stack.enter_context(collecting(lake, **options)) for _ in range(COLLECTORS)]
        loads = [pool.submit(load, each, number) for number, each in enumerate(collectors)]
        compactions = 0
        while not (compactions and all(each.done() for each in loads)):
            done = compact(Lake.open(lake), CompactOptions(min_age_secs=0), lambda _: None)
            compactions += done.files_before > 0
        for each in loads:
            each.result()
        exit_codes = [collector.stop() for collector in collectors]

    assert exit_codes == [0] * COLLECTORS
    assert landed_ids(lake) == list(range(1, 1 + COLLECTORS * REQUESTS * SPANS))
    rows = landed(lake)
    requests = Counter(
        zip(rows["collector_id"].to_pylist(), rows["wal_seq"].to_pylist(), strict=True)
    )
    assert set(requests.values()) == {SPANS}
    by_collector = Counter(collector_id for collector_id, _ in requests)
    assert by_collector == {path.name: REQUESTS for path in (lake / "wal").glob("*/")}
    senders = {
        collector_id: (int(span_id, 16) - 1) // (REQUESTS * SPANS)
        for collector_id, span_id in zip(
            rows["collector_id"].to_pylist(), rows["span_id"].to_pylist(), strict=True
        )
    }
    assert sorted(senders.values()) == list(range(COLLECTORS))
