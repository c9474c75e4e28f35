"""Arguments of benchmarks."""

import argparse
from collections.abc import Callable, Collection


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
