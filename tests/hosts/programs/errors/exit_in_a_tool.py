"""sys.exit in a tool ends the program with its code, after atexit and finally have run.

spans: 3
"""

import atexit
import sys

from tg import t

t.init()
atexit.register(print, "at exit")


@t.tool
def leave(code: int) -> None:
    """End the program."""
    sys.exit(code)


with t.agent_run("a"):
    try:
        leave(7)
    finally:
        print("finally")
