"""What every test may use: real traces, object stores; and which examples hypothesis tries.

A run tries the same examples as the one before, so that it fails for a change and not by chance;
`EXAMPLES=new` tries others, `EXAMPLES=few` fewer, `EXAMPLES=many` more. A slow machine is no
reason to fail.
"""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests import processor_times
from tests.costs import writes_costs
from tests.lake.stores import Store, azure_is_there, azure_server, put_environment, s3_server
from tests.slow import PART, of_part, slow_after

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("new", settings.get_profile("same"), derandomize=False)
settings.register_profile("few", settings.get_profile("same"), max_examples=10)
settings.register_profile("many", settings.get_profile("new"), max_examples=200)
settings.load_profile(os.environ.get("EXAMPLES", "same"))

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_configure(config: pytest.Config) -> None:
    """Let what tests start be interrupted, although a suite in the background ignores that."""
    if processor_times.asked() or writes_costs():
        config.pluginmanager.register(processor_times.ProcessorTimes())
    usual: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGQUIT: signal.SIG_DFL,
    }
    for number, handler in usual.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    gc.disable()  # until all tests are there: looking for cycles would take a fifth as long again


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests of another part, where one was asked for."""
    if part := os.environ.get(PART):
        chosen = of_part(items, part)
        config.hook.pytest_deselected(items=[*set(items).difference(chosen)])
        items[:] = chosen


def pytest_collection_finish() -> None:
    """Look for cycles again, but not among what was imported and collected, which stays."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real traces that nobody in this project wrote; skips where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of shared test data is not on this machine")
    return SHARED_DATA


@pytest.fixture(scope="session")
def server() -> Iterator[Store]:
    """An S3 server that all tests share."""
    with s3_server() as store:
        yield store


@pytest.fixture
def s3_store(server: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The server without faults, known to all clients of this process and those it starts."""
    put_environment(server, monkeypatch.setenv)
    yield server
    server.heal()


@pytest.fixture
def store(s3_store: Store) -> Store:
    """An object store, where one kind will do."""
    return s3_store


@pytest.fixture(scope="session")
def azure() -> Iterator[Store]:
    """An Azure server that all tests share."""
    if not azure_is_there():
        pytest.skip("no azurite is here to be an Azure server; `make azurite` installs it")
    with azure_server() as store:
        yield store


@pytest.fixture(params=slow_after(1, ["server", "azure"]), ids=["s3", "az"])
def either_store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """A server of each kind without faults, known as `s3_store` is."""
    found: Store = request.getfixturevalue(request.param)
    put_environment(found, monkeypatch.setenv)
    yield found
    found.heal()


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on a request to a store after two tries."""
    monkeypatch.setattr("tracegrade_lake.stores.MAX_RETRIES", 1)
