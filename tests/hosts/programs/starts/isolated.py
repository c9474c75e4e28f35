"""python -I, which reads no PYTHONPATH and no user site.

spans: 3
speed: slow
command: python -I program
"""

import os
import sys
from pathlib import Path

sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)

from tg import t

t.init()


@t.tool
def work(x):
    return x


with t.agent_run("a"):
    print(work(sys.flags.isolated), Path(sys.argv[0]).name)
