"""Finds Chromium on this machine."""

import os
import shutil
from typing import Final

from tracegrade_harness.errors import EnvironmentFailed

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE: Final = "TRACEGRADE_CHROMIUM"
"""Names another program of the same kind."""


def why_not() -> str | None:
    """Return the missing program, and how to get it; None if none is missing."""
    named = os.environ.get(VARIABLE)
    if named and shutil.which(named) is None:
        return f"{VARIABLE} names '{named}', which is not a program; name Chromium or Chrome"
    if not named and not any(map(shutil.which, NAMES)):
        return f"no Chromium was found; `apt-get install chromium`, or name one in {VARIABLE}"
    return None


def program() -> str:
    """Return the path of the browser's program.

    Raises:
        EnvironmentFailed: There is none.
    """
    if reason := why_not():
        raise EnvironmentFailed(reason)
    named = os.environ.get(VARIABLE)
    found = (shutil.which(name) for name in ([named] if named else NAMES))
    return next(path for path in found if path is not None)
