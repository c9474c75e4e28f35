"""A program that looks for another in the path, and replaces itself with it.

spans: 4
speed: slow
"""

import os
import sys

from tg import t

t.init()

with t.agent_run("first" if len(sys.argv) == 1 else "second"):
    t.thought("x")
if len(sys.argv) == 1:
    try:
        os.execvp("no-such-program", ["no-such-program"])
    except FileNotFoundError as error:
        print(error, flush=True)
    os.execv(sys.executable, [sys.executable, sys.argv[0], "again"])
print("second")
