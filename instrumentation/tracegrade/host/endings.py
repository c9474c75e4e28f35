"""Spans are sent before a process ends itself without `atexit`: by a signal, or by exec.

uvicorn, hypercorn and Twisted shut down in order at SIGTERM, and then send the signal to
themselves again, so that their parent process sees it. The effect of the signal is unchanged.
Signals from outside are unchanged, too: a process that is killed without a handler ends at once.
"""

import functools
import os
import signal
from collections.abc import Callable
from typing import Any, Final

from tracegrade.guard import guarded
from tracegrade.sending.flush import unsent_after
from tracegrade.state import state

EXEC_SECS: Final = 2.0
"""Longest wait for spans to be sent before another program replaces the process."""

_HARMLESS: Final = frozenset(
    getattr(signal, name, None)
    for name in (
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGWINCH",
    )
)
"""Signals that by themselves end no process."""


def send_before_the_end() -> None:
    """Patch the functions with which a process ends itself, so that spans are sent first."""
    _precede(signal, "raise_signal", _before_signal)
    _precede(os, "kill", _before_kill)
    for name in ("execv", "execve"):  # all of `os.exec*` end up in one of them
        _precede(os, name, _before_exec)


def _precede(module: Any, name: str, before: Callable[..., object]) -> None:
    function = getattr(module, name, None)
    if function is None or hasattr(function, "__wrapped__"):
        return

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        before(*args)
        return function(*args, **kwargs)

    call.__module__ = module.__name__
    setattr(module, name, call)


@guarded
def _before_kill(pid: int = 0, number: int = 0, *_: object) -> None:
    if pid == os.getpid():
        _before_signal(number)


@guarded
def _before_signal(number: int = 0, *_: object) -> None:
    if number == 0 or number in _HARMLESS or signal.getsignal(number) is not signal.SIG_DFL:
        return
    if hasattr(signal, "pthread_sigmask") and number in signal.pthread_sigmask(
        signal.SIG_BLOCK, ()
    ):
        return
    for sending in state.sending:
        sending.shutdown()


@guarded
def _before_exec(program: Any = "", *_: object) -> None:
    if not os.access(program, os.X_OK):
        return  # it fails, and this program continues
    for exporter in unsent_after(state.sending, EXEC_SECS):
        exporter.say_what_waits()
