"""The peer that tests of sending send to."""

from collections.abc import Iterator

import pytest
from tests.send.peers import Peer, peer

KEYS = {
    "TRACEGRADE_SEND_PHOENIX_API_KEY": "phoenix-secret",
    "TRACEGRADE_SEND_LANGFUSE_PUBLIC_KEY": "pk-lf-secret",
    "TRACEGRADE_SEND_LANGFUSE_SECRET_KEY": "sk-lf-secret",
    "TRACEGRADE_SEND_DATADOG_API_KEY": "datadog-secret",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    """A peer, and keys for it."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    with peer() as found:
        yield found
