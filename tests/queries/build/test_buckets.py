"""How large the spans are decides on buckets of a build, and changes no row."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.queries.test_build import contents
from tests.queries.traces import agent, land, request_of, tool

from tracegrade_lake import Lake
from tracegrade_queries.build import build as building
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.executor import Threads

SPANS, BYTES = 1_000, 100_000
"""Of a bucket, in place of the real numbers, so that few spans are many bytes."""


class Counted(Threads):
    """Threads that count buckets, and the traces in each."""

    def __init__(self) -> None:
        """Two of them."""
        super().__init__(2)
        self.traces: list[int] = []

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave."""
        self.traces += [len(bucket.traces) for bucket in buckets]
        return super().run(work, buckets)


@pytest.fixture(autouse=True)
def _small_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "BUCKET_SPANS", SPANS)
    monkeypatch.setattr(building, "BUCKET_BYTES", BYTES)
    monkeypatch.setattr(building, "LEAST_BUCKET_SPANS", SPANS // 10)


def runs(place: Path, result_bytes: int) -> Lake:
    """Return a new lake of three runs, each with a tool's result of that size."""
    lake = Lake.create(place)
    for trace in range(1, 4):
        result = "".join(f"{trace * number:06d}" for number in range(result_bytes // 6))
        call = tool(2, 1, trace=trace, at=1, gen_ai__tool__call__result=result)
        land(lake, request_of([agent(1, trace=trace), call]), seq=trace)
    return lake


REPEATED = {
    "texts": {"gen_ai__tool__call__result": "long " * 1_600},
    "names": {f"attribute_{number}": "" for number in range(200)},
}
"""The text in each of ten spans of a run: 80 kB in all; a dictionary would hold a tenth."""


@pytest.mark.parametrize("repeated", REPEATED)
def test_what_repeats_in_a_file_counts_each_time(tmp_path: Path, repeated: str) -> None:
    """Three runs of 80 kB, in files that could tell each in 8, are not one bucket of 100 kB."""
    lake = Lake.create(tmp_path / "lake")
    for trace in range(1, 4):
        calls = [tool(2 + at, 1, trace=trace, at=at, **REPEATED[repeated]) for at in range(10)]
        land(lake, request_of([agent(1, trace=trace), *calls]), seq=trace)
    counted = Counted()
    build(lake, executor=counted)

    assert counted.traces == [1, 1, 1]


def test_few_large_spans_are_several_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six spans, three of them of 100 kB, are more than one bucket; of 60 bytes they are one."""
    few, many = Counted(), Counted()
    build(runs(tmp_path / "small", 60), executor=few)
    large = runs(tmp_path / "large", 100_000)
    build(large, executor=many)
    in_buckets = contents(large)
    monkeypatch.undo()
    build(large, full=True)

    assert few.traces == [3]
    assert len(many.traces) > 1
    assert sum(many.traces) == 3
    assert contents(large) == in_buckets
