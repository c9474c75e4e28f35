"""Warnings as errors, the developer's mode, and a tool that warns of its caller.

spans: 5
speed: slow
command: python -X dev -W error program
"""

import gc
import warnings

from tg import t

t.init()


@t.tool
def old(x):
    return x


def deprecated(x):
    warnings.warn("deprecated", DeprecationWarning, stacklevel=2)
    return x


@t.tool
def warns():
    warnings.warn("look out", UserWarning, stacklevel=1)


with t.agent_run("a"):
    print(old(1))
    try:
        warns()
    except UserWarning as error:
        print("raised", error)
    try:
        deprecated(1)
    except DeprecationWarning as error:
        print("raised", error)
gc.collect()
