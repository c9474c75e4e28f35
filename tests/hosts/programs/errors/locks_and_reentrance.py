"""Values whose methods need a lock of the caller, tools in __del__, weakrefs and signal handlers.

spans: 15
"""

import gc
import os
import signal
import threading
import weakref

from tg import t

t.init()
lock = threading.Lock()
signal.alarm(20)


class Safe:
    def __init__(self):
        self.data = 1

    def __repr__(self):
        with lock:
            return "safe"

    __str__ = __repr__

    def __len__(self):
        with lock:
            return 1


class Dropped:
    def __del__(self):
        work("dropped")


class Written:
    def __str__(self):
        return work("written")


@t.tool
def work(x):
    return x


@t.tool
def use(x, *_):
    return x.data


with lock, t.agent_run("a", user_input="x"):
    print(use(Safe()), use(Safe(), [Safe()], {"a": Safe()}))
    dropped = Dropped()
    del dropped
    gc.collect()
    print(str(Written()))
    held = Dropped.__new__(type("Held", (), {}))
    reference = weakref.ref(held, lambda _: work("weak"))
    del held
    gc.collect()
    signal.signal(signal.SIGUSR1, lambda *_: work("signal"))
    os.kill(os.getpid(), signal.SIGUSR1)
    work("last")
signal.alarm(0)
print("end")
