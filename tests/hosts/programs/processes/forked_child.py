"""A child by os.fork, which ends by os._exit, and one of multiprocessing.

spans: 7
"""

import multiprocessing
import os

from tg import t

t.init()


@t.tool
def double(x: int) -> int:
    """Return twice the number."""
    return 2 * x


def work(x: int) -> None:
    """Be a child's work."""
    print("child", double(x), flush=True)


if __name__ == "__main__":
    with t.agent_run("parent"):
        print(double(1), flush=True)
        child = multiprocessing.get_context("fork").Process(target=work, args=[2])
        child.start()
        child.join()
        print("exit", child.exitcode, flush=True)
        if (pid := os.fork()) == 0:
            print("forked", double(3), flush=True)
            t.flush()
            os._exit(3)
        print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
