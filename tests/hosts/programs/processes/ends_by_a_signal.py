"""A server that shuts down in order at SIGTERM, then sends it to itself, as uvicorn does.

spans: 3
speed: slow
"""

import signal
import sys

from tg import t

t.init()


@t.tool
def double(x: int) -> int:
    """Return twice the number."""
    return 2 * x


print(signal.getsignal(signal.SIGTERM), flush=True)
with t.agent_run("server"):
    print(double(1))
sys.stdout.flush()
signal.raise_signal(signal.SIGTERM)
print("never")
