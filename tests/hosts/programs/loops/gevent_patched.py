"""gevent with everything patched: greenlets, timeouts, kills, and a pool.

spans: 18
speed: slow
"""

from gevent import monkey

monkey.patch_all()

import threading
import time

import gevent
import gevent.pool
from tg import t

t.init()


@t.tool
def wait(name, secs):
    try:
        time.sleep(secs)
    except gevent.GreenletExit:
        print("killed", name)
        raise
    return name


def in_a_run(number):
    with t.agent_run(f"run {number}"):
        return wait(f"{number}", 0.01)


print([job.get() for job in [gevent.spawn(in_a_run, n) for n in range(3)]])
with t.agent_run("a"):
    victim = gevent.spawn(wait, "victim", 10)
    gevent.sleep(0.01)
    victim.kill()
    print(victim.value, victim.successful())
    try:
        with gevent.Timeout(0.01):
            wait("late", 10)
    except gevent.Timeout as error:
        print(type(error).__name__)
    print(gevent.pool.Pool(2).map(lambda n: n, range(3)))
    thread = threading.Thread(target=wait, args=["thread", 0.01])
    thread.start()
    thread.join()
    print(monkey.is_module_patched("threading"))
    with gevent.Timeout(0.01, False):
        wait("silent", 10)
t.flush()
