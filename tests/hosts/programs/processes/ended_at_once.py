"""os._exit, os.abort and SIGKILL after a flush, os.execv: flushed spans have landed.

spans: 12
speed: slow
"""

import os
import signal
import sys

from tg import t

t.init()


@t.tool
def double(x):
    return 2 * x


def execute():
    os.execv(sys.executable, [sys.executable, "-c", "print('became another')"])


ways = (lambda: os._exit(4), lambda: os.kill(os.getpid(), signal.SIGKILL), execute, os.abort)
for way in ways:
    sys.stdout.flush()
    if (pid := os.fork()) == 0:
        with t.agent_run("child"):
            double(1)
        t.flush()
        way()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
