"""Makes the machine of one process a bad one: Python imports this by its name from `PYTHONPATH`.

The file that `FAULTY_OS` names says what is wrong at the moment, as JSON: `sync_errno` and
`write_errno` let those calls fail, `sync_secs` lets each sync take so long, `clock_ns` is how far
the clock is wrong. Without the file all is well. It stands for hardware that tests cannot break.
"""

import json
import os
import time
from collections.abc import Callable
from typing import Any

steering = os.environ.get("FAULTY_OS", "")


def faults() -> dict[str, Any]:
    """Return what is wrong at the moment."""
    try:
        with open(steering, "rb") as file:
            return dict(json.load(file))
    except (OSError, ValueError):
        return {}


def failing(call: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """Return a call that is slow, or fails, while a test requests it."""

    def faulty(*arguments: Any) -> Any:
        wrong = faults()
        time.sleep(wrong.get(f"{kind}_secs", 0))
        number = wrong.get(f"{kind}_errno")
        if number:
            raise OSError(number, os.strerror(number))
        return call(*arguments)

    return faulty


if steering:
    real_time_ns = time.time_ns
    os.fsync = failing(os.fsync, "sync")
    os.fdatasync = failing(os.fdatasync, "sync")
    os.writev = failing(os.writev, "write")
    time.time_ns = lambda: real_time_ns() + int(faults().get("clock_ns", 0))
