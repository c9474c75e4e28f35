"""Walks all stories in a browser: `python -m tests.explorer.stories [--write]`.

With `--write` the table in `docs/internals/stories.md` has what each took.
"""

import os
import sys
from pathlib import Path

import pytest

from .table import WRITE


def main(arguments: list[str]) -> int:
    """Run the tests of this folder; return their exit code."""
    if arguments not in ([], ["--write"]):
        sys.exit(__doc__)
    if arguments:
        os.environ[WRITE] = "1"
    return pytest.main(["-q", "-p", "no:cacheprovider", str(Path(__file__).parent)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
