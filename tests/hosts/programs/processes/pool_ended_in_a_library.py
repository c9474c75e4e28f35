"""A pool that is ended while a worker is deep in a library's code: it ends at once, as usual.

spans: 5
"""

import hashlib
import multiprocessing
import signal
import time

from tg import t

t.init()
fork = multiprocessing.get_context("fork")
begun = fork.Event()


@t.tool
def starts(x):
    return x


def works_for_minutes(x):
    print(starts(x), signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, flush=True)
    begun.set()
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 500_000_000)


if __name__ == "__main__":
    with t.agent_run("parent"):
        with fork.Pool(1) as pool:
            print(pool.apply(starts, [1]))
            pool.apply_async(works_for_minutes, [2])
            begun.wait()
            (worker,) = multiprocessing.active_children()
            time.sleep(0.2)
            at = time.monotonic()
        worker.join()
        print(worker.exitcode, time.monotonic() - at < 15)
