"""SIGTERM: a child with a handler that exits, one that re-raises after its work, one without.

spans: 3 or more
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


def exits(*_):
    print("ends in good order", flush=True)
    sys.exit(5)


def raises_again(number, _):
    print("cleans up", flush=True)
    double(3)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


for handler in (exits, raises_again, signal.SIG_DFL):
    ready, tell = os.pipe()
    if (pid := os.fork()) == 0:
        signal.signal(signal.SIGTERM, handler)
        with t.agent_run("child"):
            double(1)
            os.write(tell, b"x")
            signal.pause()
        os._exit(9)
    os.read(ready, 1)
    os.kill(pid, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
