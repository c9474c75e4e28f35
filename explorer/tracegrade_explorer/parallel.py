"""Runs several queries of one page in parallel threads.

A query of one run takes longer to plan than to read, and the engine plans it on one core.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

AT_ONCE: Final = 2
"""Number of threads of one page; other pages have their own."""

Made = TypeVar("Made")


def parallel(tasks: Mapping[str, Callable[[], Made]]) -> dict[str, Made]:
    """Return what each task makes, by its name.

    Args:
        tasks: Those that take longest first; no two may use the same cursor.

    Raises:
        Exception: What the first of them raises that fails, once all others have ended.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = {name: pool.submit(task) for name, task in tasks.items()}
    return {name: each.result() for name, each in made.items()}
