"""A collector for test files that start none of their own, and transports that carry protobuf."""

from collections.abc import Iterator

import pytest
from tests.collector.running import Collector, collecting
from tests.collector.transports import Transport

from .bad_inputs import LIMIT, ids_from_here


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector whose requests may have one megabyte."""
    with collecting(
        tmp_path_factory.mktemp("lake"),
        max_request_bytes=LIMIT,
        land_every_secs=0.3,
        max_segment_age_secs=0.1,
    ) as running:
        yield running


@pytest.fixture(params=["http-protobuf", "grpc"])
def wire(request: pytest.FixtureRequest, all_transports: dict[str, Transport]) -> Transport:
    """Those that carry protobuf."""
    return all_transports[request.param]


@pytest.fixture
def span_id() -> int:
    """An id that no other test has."""
    return next(ids_from_here)
