"""What the command lines of benchmarks share: a type of arguments, and output that may be cut."""

import argparse
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager


@contextmanager
def while_read() -> Iterator[None]:
    """End the block, and the program, in silence where the reader has left: `... | head -1`."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more
        sys.exit(1)


def one_of(names: Collection[str]) -> Callable[[str], str]:
    """Return a type of arguments that are one of these names.

    `choices` says the same, but Python 3.11 holds a default of several against them as one value.
    """

    def name(text: str) -> str:
        if text not in names:
            msg = f"'{text}' is unknown; known: {', '.join(names)}"
            raise argparse.ArgumentTypeError(msg)
        return text

    return name
