"""Restores default signal handling in child processes for signals that this process ignores."""

import signal
import threading
from typing import Final

_OF_PYTHON: Final = frozenset({"SIGPIPE", "SIGXFSZ"})
"""It ignores them itself, and `subprocess` resets them."""


def ignore_alone() -> None:
    """Let programs that this process starts receive the signals that it ignores.

    Shells make background programs ignore some signals, and `nohup` another one. A child inherits
    ignored signals, but not handlers. So this sets a handler that does nothing. Only the main
    thread can set handlers; in other threads nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in signal.valid_signals():
        is_ignored = signal.getsignal(number) is signal.SIG_IGN
        if is_ignored and signal.Signals(number).name not in _OF_PYTHON:
            signal.signal(number, lambda *_: None)
