"""A pool's worker that closes the files which its parent does not have, and continues.

spans: 1 or more
"""

import contextlib
import multiprocessing
import os
import time

from tg import t

t.init()


@t.tool
def starts(x):
    return x


def opened():
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            yield number, os.fstat(number).st_ino


def closes(kept):
    for number, file in list(opened()):
        if file not in kept:
            os.close(number)
    time.sleep(0.3)
    return starts(os.getpid())


if __name__ == "__main__":
    with t.agent_run("parent"), multiprocessing.get_context("fork").Pool(1) as pool:
        kept = {file for _, file in opened()}
        tasks = [pool.apply_async(closes, [kept]) for _ in range(2)]
        print(len({task.get(20) for task in tasks}))
