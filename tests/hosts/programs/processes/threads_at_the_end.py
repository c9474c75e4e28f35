"""Threads: daemons at the end, an exception in one, locals, timers, and executors at exit.

spans: 15 or more
speed: slow
"""

import atexit
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tg import t

t.init()
local = threading.local()


@t.tool
def work(x):
    local.x = x
    return x


@t.tool
def fails():
    raise ValueError("in a thread")


class Own(threading.Thread):
    def run(self):
        print("own", work(1), self.name)


def forever():
    work(2)
    started.set()
    while True:
        time.sleep(1)


started = threading.Event()
with t.agent_run("a"):
    for thread in (
        Own(name="mine"),
        threading.Timer(0.01, work, [3]),
        threading.Thread(target=fails, name="failing"),
    ):
        thread.start()
        thread.join()
    threading.Thread(target=forever, daemon=True).start()
    started.wait()
    with ThreadPoolExecutor(2, initializer=work, initargs=[4]) as pool:
        print(list(pool.map(work, range(3))))
    print(hasattr(local, "x"))
late = ThreadPoolExecutor(1)
late.submit(time.sleep, 0.05)
late.submit(work, 5)
atexit.register(lambda: print("at exit", work(6)))
