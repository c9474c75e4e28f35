"""Children by spawn and by a fork server, tasks of their process pools, and a pool that is ended.

spans: 25
speed: slow
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from tg import t

t.init()


@t.tool
def double(x: int) -> int:
    """Return twice the number."""
    return 2 * x


def work(x: int) -> int:
    """Be a child's work."""
    return double(x)


def fail(x: int) -> None:
    """Be work that fails."""
    raise LookupError(x)


if __name__ == "__main__":
    with t.agent_run("parent"):
        for method in ("spawn", "forkserver"):
            context = multiprocessing.get_context(method)
            child = context.Process(target=work, args=[1])
            child.start()
            child.join()
            print(method, child.exitcode)
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                print(list(pool.map(work, range(2))), pool.submit(fail, 7).exception())
        for method in ("spawn", "fork"):
            with multiprocessing.get_context(method).Pool(2) as workers:
                print(workers.map(work, range(3)))
