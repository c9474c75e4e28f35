"""Exceptions with causes, contexts, notes and groups pass through, and end the program.

spans: 11
"""

import sys
import traceback

from tg import t

t.init()


class OurError(Exception):
    """Holds what raised it."""

    def __init__(self, code: int, *, hint: str) -> None:
        super().__init__(code)
        self.hint = hint


@t.tool
def low(kind: str) -> None:
    """Raise in several ways."""
    if kind == "notes":
        error = OurError(7, hint="look up")
        error.add_note("first")
        error.add_note("second")
        raise error
    if kind == "group":
        raise ExceptionGroup("several", [ValueError(1), OSError(2, "no such thing", "file")])
    raise KeyError(kind)


@t.tool
def high(kind: str) -> None:
    """Raise from what was raised."""
    try:
        low(kind)
    except KeyError as error:
        raise RuntimeError("high") from error


with t.agent_run("a"):
    for call, kind in ((low, "notes"), (low, "group"), (high, "cause")):
        try:
            call(kind)
        except Exception as error:
            names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            print(repr(error), vars(error), repr(error.__cause__), names[-1])
            print(error.__suppress_context__, repr(error.__context__), error.args)
    print(sys.exc_info())
    low("unhandled")
