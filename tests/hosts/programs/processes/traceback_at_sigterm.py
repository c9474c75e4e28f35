"""A host that has faulthandler write a traceback at SIGTERM, and its child, which continues.

spans: 3
"""

import faulthandler
import os
import signal
import time

from tg import t

t.init()


@t.tool
def double(x):
    return 2 * x


with open(os.devnull, "w") as nowhere:
    faulthandler.register(signal.SIGTERM, nowhere)
    with t.agent_run("parent"):
        print(double(1), flush=True)
        ready, tell = os.pipe()
        if (pid := os.fork()) == 0:
            os.write(tell, b"x")
            time.sleep(0.5)
            os._exit(3)
        os.read(ready, 1)
        os.kill(pid, signal.SIGTERM)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
