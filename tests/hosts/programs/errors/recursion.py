r"""A tool that recurses to the limit, and one that is called close to it.

spans: 1 or more
says: ^tracegrade: \d+ spans were lost: interrupted or failed at the start
speed: slow
"""

import sys

from tg import t

t.init()


@t.tool
def down(n):
    return n if n == 0 else down(n - 1)


@t.tool
def work(x):
    return x


def close_to_the_limit(n):
    try:
        return close_to_the_limit(n + 1)
    except RecursionError:
        return "at the limit"


with t.agent_run("a"):
    print(down(50))
    try:
        down(100_000)
    except RecursionError as error:
        print(type(error).__name__)
    print(close_to_the_limit(0), work(1), sys.getrecursionlimit())
