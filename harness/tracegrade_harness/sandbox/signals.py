"""Restores default signal handling in child processes for signals that this process ignores."""

import signal
import threading
from typing import Final

_OF_PYTHON: Final = frozenset({"SIGPIPE", "SIGXFSZ"})
"""It ignores them itself, and `subprocess` resets them."""


def ignore_alone() -> None:
    """Let programs that this process starts have those signals back that it ignores.

    Shells let what runs in the background ignore some, `nohup` another. Whoever is started ignores
    what is ignored, but knows nothing of handlers: so here one that does nothing takes the place.
    Only the main thread can do so; in others nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in signal.valid_signals():
        is_ignored = signal.getsignal(number) is signal.SIG_IGN
        if is_ignored and signal.Signals(number).name not in _OF_PYTHON:
            signal.signal(number, lambda *_: None)
