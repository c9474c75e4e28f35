"""A host whose own library patches how threads start, as libraries that watch for errors do.

spans: 9
"""

import functools
import threading

from tg import t


def patch():
    """Wrap each thread's `run`, taken out of what it is bound to."""
    start = threading.Thread.start

    @functools.wraps(start)
    def start_watched(self):
        run = getattr(self.run, "__func__", self.run)

        def watched(*args):
            return run(threading.current_thread(), *args[1:])

        self.run = watched
        return start(self)

    threading.Thread.start = start_watched


@t.tool
def work(x):
    return x


class Own(threading.Thread):
    def run(self):
        print("own", work(2))


patch()
t.init()
with t.agent_run("a"):
    for thread in (threading.Thread(target=work, args=[1]), Own(), threading.Timer(0, work, [3])):
        thread.start()
        thread.join()
work(4)
