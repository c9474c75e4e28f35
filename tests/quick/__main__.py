"""Run the tests that a change most likely breaks: `python -m tests.quick [--explain]`.

These are a base, the same for every change, and the tests near what this branch changed, within a
budget of processor time. What is left out is named. `--explain` lists all with their costs, and
runs nothing. Exits as pytest does.
"""

import subprocess
import sys
from collections.abc import Iterator
from textwrap import wrap

from tests.changes import base as base_commit
from tests.changes import changed_files
from tests.costs import read_costs, suite_files
from tests.quick.choice import UNKNOWN_SECS, Choice, choose


def main(arguments: list[str]) -> int:
    """Do what the arguments ask for and return the exit code."""
    choice = choose(changed_files(base_commit()), read_costs())
    if arguments == ["--explain"]:
        print("\n".join(explanation(choice)))
        return 0
    print("\n".join(summary(choice)), flush=True)
    done = subprocess.run([sys.executable, "-m", "pytest", *PYTEST, *choice.targets], check=False)
    print("\n".join(omissions(choice)), flush=True)
    return done.returncode


PYTEST = ("-q", "--numprocesses", "2", "--dist", "loadfile", "-m", "not slow")
"""One process runs all tests of a file, so that what they share is made once."""


def summary(choice: Choice) -> Iterator[str]:
    """Yield a line for each set of tests that runs."""
    yield (
        f"base: {len(choice.base)} files, {choice.secs(choice.base):.0f} s of processor time, "
        f"and {len(choice.single)} single tests"
    )
    yield (
        f"near what changed: {len(choice.near)} more files, "
        f"{choice.secs(choice.near):.0f} s of processor time"
    )


def omissions(choice: Choice) -> Iterator[str]:
    """Yield what a reader must not take for tested."""
    if choice.left_out:
        secs = choice.secs(choice.left_out)
        yield f"left out: {len(choice.left_out)} files near what changed, {secs:.0f} s"
        names = ", ".join(choice.left_out)
        yield from wrap(names, 100, initial_indent="  ", subsequent_indent="  ")
    if unknown := sorted({*suite_files()} - choice.costs.keys()):
        yield f"never measured, so taken to cost {UNKNOWN_SECS:.0f} s each (see tests/costs.py):"
        yield from wrap(", ".join(unknown), 100, initial_indent="  ", subsequent_indent="  ")
    yield from packages_without(choice)
    if choice.left_out or choice.only_base:
        yield "run `make test` before a push"


def packages_without(choice: Choice) -> Iterator[str]:
    """Yield the packages that changed where no test is near; only the base is run of them."""
    for package in choice.only_base:
        yield f"no test is near what changed in {package}: only the base is run of it"


def explanation(choice: Choice) -> Iterator[str]:
    """Yield all files with their costs, set by set."""
    heading, near = summary(choice)
    for title, files in ((heading, choice.base), (near, choice.near)):
        yield title
        yield from (f"{choice.cost(file):8.1f} s  {file}" for file in files)
    yield "single tests of other files"
    yield from (f"            {test}" for test in choice.single)
    yield "left out"
    yield from (f"{choice.cost(file):8.1f} s  {file}" for file in choice.left_out)
    yield from packages_without(choice)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
