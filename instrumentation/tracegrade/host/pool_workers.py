"""Workers of a `multiprocessing.Pool` send their spans before SIGTERM ends them.

A pool usually ends its workers with that signal, when `with Pool()` ends. A handler in Python
would run in the main thread, once that runs Python code. So a worker deep in a library's code
would not end. A worker that waits for the pool's lock might never end, since a signal that arrives
as it is woken does not interrupt its next wait. So for Python the signal keeps its default.
`faulthandler`, which reacts below Python, writes a traceback into a pipe. That wakes a thread of
tracegrade, which sends the spans, restores the signal's default, and ends the worker with it.
"""

import _thread
import faulthandler
import os
import signal
import threading
from types import BuiltinFunctionType
from typing import Final

from tracegrade.guard import guarded
from tracegrade.sending.flush import unsent_after
from tracegrade.state import state

POOL_EXIT_SECS: Final = 2.0
"""Longest time for a worker of an ending pool to send its spans."""
START_SECS: Final = 1.0
"""Longest time for a worker to wait for the thread that sends them, before it works."""

_CAN_WATCH: Final = hasattr(faulthandler, "register")


@guarded
def send_before_sigterm() -> None:
    """Have this worker send its spans before SIGTERM ends it, unless the host handles the signal.

    If gevent or eventlet has replaced threads, there is none that could wait: the worker ends at
    once.
    """
    has_threads = isinstance(_thread.start_new_thread, BuiltinFunctionType)
    if _CAN_WATCH and has_threads and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        os.register_at_fork(after_in_child=_forget)  # a child of a worker has no such thread
        registering = _thread.allocate_lock()
        registering.acquire()
        _thread.start_new_thread(_end_at_sigterm, (registering,))
        # A pool may end its workers as soon as they have worked.
        registering.acquire(timeout=START_SECS)


@guarded
def _end_at_sigterm(registering: _thread.LockType) -> None:
    """Wait for the signal, and end by it; if the host closes the pipe, do nothing.

    The thread registers itself once it is a thread of Python: `faulthandler` ignores a thread that
    is still starting.

    Args:
        registering: Released once it has.
    """
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    faulthandler.register(signal.SIGTERM, wakes, all_threads=False)
    registering.release()
    ended = os.read(woken, 1)
    if ended:
        _send()
    _forget()
    if ended:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


@guarded
def _send() -> None:
    for exporter in unsent_after(state.sending, POOL_EXIT_SECS):
        exporter.say_what_waits()


def _forget() -> None:
    faulthandler.unregister(signal.SIGTERM)
