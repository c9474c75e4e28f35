"""A signal ends a wait at once, and handlers are as before afterwards."""

import os
import signal

from tracegrade_scoring.follow.stopping import stopping


def test_a_signal_ends_a_wait() -> None:
    """However long the wait would be; the next one ends at once, too."""
    before = signal.getsignal(signal.SIGTERM)
    with stopping() as stop:
        stop.wait(0.0)
        assert not stop.is_set
        os.kill(os.getpid(), signal.SIGTERM)
        stop.wait(86_400)
        stop.wait(86_400)
        assert stop.is_set
        os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
