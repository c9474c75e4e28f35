"""What several test files use: each transport to a collector."""

import pytest

from .running import Collector
from .transports import Transport, transports


@pytest.fixture(scope="module")
def all_transports(collector: Collector) -> dict[str, Transport]:
    """Each transport to the collector that the module's fixture `collector` is."""
    return transports(collector)


@pytest.fixture(params=["http-protobuf", "http-json", "grpc"])
def transport(request: pytest.FixtureRequest, all_transports: dict[str, Transport]) -> Transport:
    """One after the other."""
    return all_transports[request.param]
