"""multiprocessing by spawn and by forkserver: values come back, and children carry the run.

spans: 9
speed: slow
"""

import multiprocessing

from tg import t

t.init()


@t.tool
def double(x):
    return 2 * x


def work(x, queue):
    queue.put(double(x))


if __name__ == "__main__":
    with t.agent_run("parent", task="t-1"):
        for method in ("spawn", "forkserver"):
            context = multiprocessing.get_context(method)
            queue = context.SimpleQueue()
            child = context.Process(target=work, args=[2, queue])
            child.start()
            print(method, queue.get(), child.join(), child.exitcode)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(double, [1, 2]))
            pool.close()
            pool.join()
