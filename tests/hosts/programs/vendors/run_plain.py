"""tracegrade run: arguments, exit code, stdin and the environment that the host sees.

spans: 3
speed: slow
mode: run
says: tracegrade: .*
"""

import sys

from tg import t


@t.tool
def work(x):
    return x


with t.agent_run("a"):
    print(work(1), sys.argv[1:], sys.stdin.read(), sys.flags.isolated, __name__)
t.flush()
sys.exit(9)
