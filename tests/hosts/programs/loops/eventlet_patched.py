"""eventlet with everything patched: green threads, timeouts, kills, a pool, and threads.

spans: 18
speed: slow
command: python -W ignore::DeprecationWarning program
"""

import eventlet

eventlet.monkey_patch()

import threading
import time

from eventlet import greenpool
from greenlet import GreenletExit
from tg import t

t.init()


@t.tool
def wait(name, secs):
    try:
        time.sleep(secs)
    except GreenletExit:
        print("killed", name)
        raise
    return name


def in_a_run(number):
    with t.agent_run(f"run {number}"):
        return wait(f"{number}", 0.01)


print([job.wait() for job in [eventlet.spawn(in_a_run, n) for n in range(3)]])
with t.agent_run("a"):
    victim = eventlet.spawn(wait, "victim", 10)
    eventlet.sleep(0.01)
    victim.kill()
    try:
        with eventlet.Timeout(0.01):
            wait("late", 10)
    except eventlet.Timeout as error:
        print(type(error).__name__)
    print(list(greenpool.GreenPool(2).imap(lambda n: n, range(3))))
    thread = threading.Thread(target=wait, args=["thread", 0.01])
    thread.start()
    thread.join()
    with eventlet.Timeout(0.01, False):
        wait("silent", 10)
t.flush()
