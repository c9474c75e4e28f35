"""Ctrl-C in a tool, an alarm whose handler raises, a handler that calls a tool, and a set wakeup.

spans: 11
"""

import os
import signal
import time

from tg import t

t.init()


class Late(Exception):
    pass


@t.tool
def spin(secs):
    end = time.monotonic() + secs
    while time.monotonic() < end:
        pass
    return "done"


@t.tool
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)


@t.tool
def note(number):
    print("signal", number)


def late(*_):
    raise Late("too late")


with t.agent_run("a"):
    try:
        interrupt()
    except KeyboardInterrupt as error:
        print("interrupted", error.args)
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        spin(5)
    except Late as error:
        print(error)
    signal.signal(signal.SIGUSR1, lambda number, _: note(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    print(spin(0))
    print(
        signal.getsignal(signal.SIGTERM),
        signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    )
    interrupt()
