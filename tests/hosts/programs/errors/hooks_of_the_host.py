"""sys.excepthook, unraisablehook, threading.excepthook, settrace, profile, audit and import hooks.

spans: 11
"""

import gc
import sys
import threading

from tg import t

t.init()
sys.excepthook = lambda kind, error, _: print("excepthook", kind.__name__, error)
sys.unraisablehook = lambda raised: print("unraisable", raised.exc_value)
threading.excepthook = lambda raised: print("in a thread", raised.exc_value)


@t.tool
def work(x):
    y = x + 1
    return y


@t.tool
def fails(x):
    raise ValueError(x)


class Dropped:
    def __del__(self):
        work(1)
        raise ValueError("in __del__")


with t.agent_run("a"):
    dropped = Dropped()
    del dropped
    gc.collect()
    thread = threading.Thread(target=fails, args=[2])
    thread.start()
    thread.join()
    lines, calls, events = [], [], []

    def trace(frame, event, _):
        if frame.f_code.co_filename == __file__:
            lines.append((event, frame.f_code.co_name, frame.f_lineno))
            return trace
        return None

    sys.settrace(trace)
    work(3)
    sys.settrace(None)
    sys.setprofile(
        lambda frame, event, _: frame.f_code.co_filename == __file__ and calls.append(event)
    )
    work(4)
    sys.setprofile(None)
    print(lines, calls)
    fails(5)
