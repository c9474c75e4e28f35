"""What several test files use: each transport to a collector, and an S3 server."""

from collections.abc import Iterator

import pytest

from .running import Collector
from .s3_server import Store, put_environment, s3_server
from .transports import Transport, transports


@pytest.fixture(scope="module")
def all_transports(collector: Collector) -> dict[str, Transport]:
    """Each transport to the collector that the module's fixture `collector` is."""
    return transports(collector)


@pytest.fixture(params=["http-protobuf", "http-json", "grpc"])
def transport(request: pytest.FixtureRequest, all_transports: dict[str, Transport]) -> Transport:
    """One after the other."""
    return all_transports[request.param]


@pytest.fixture(scope="session")
def server() -> Iterator[Store]:
    """An S3 server that all tests share."""
    with s3_server() as store:
        yield store


@pytest.fixture
def store(server: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The server without faults, known to all clients of this process and those it starts."""
    put_environment(server, monkeypatch.setenv)
    yield server
    server.heal()


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on a request to a store after two tries."""
    monkeypatch.setattr("tracegrade_collector.lake.object_store.MAX_RETRIES", 1)
