"""Runs host programs with and without tracegrade, and prints the results.

    python -m tests.hosts [NAME ...]

Ends with 1 if a program differs that is not known to differ.
"""

import argparse
import sys
from pathlib import Path

from .program import PROGRAMS, programs
from .running import HostRequest, run_all
from .table import diffs, lines, write_page


def main() -> int:
    """Run the selected programs; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hosts", description=__doc__)
    parser.add_argument("names", nargs="*", help="Programs by name, or folders of them; or all.")
    parser.add_argument(
        "--programs", type=Path, default=PROGRAMS, help="The folder of the programs."
    )
    parser.add_argument("--python", help="The Python that runs them.")
    parser.add_argument("--jobs", type=int, default=2, help="How many run at a time.")
    parser.add_argument("--stdout-only", action="store_true", help="Do not compare stderr.")
    parser.add_argument("--diff", action="store_true", help="Show all that differs, as a diff.")
    parser.add_argument(
        "--write", action="store_true", help="Update the table in docs/internals/host-programs.md."
    )
    given = parser.parse_args()
    if given.write and (given.names or given.programs != PROGRAMS):
        parser.error("--write is of all programs of this folder; leave out names and --programs")
    found = programs(given.programs)
    known = {name for each in found for name in (str(each), each.folder)}
    if unknown := set(given.names) - known:
        parser.error(f"no program {', '.join(sorted(unknown))} in {given.programs}")
    wanted = [
        each for each in found if not given.names or {str(each), each.folder} & {*given.names}
    ]
    asked = HostRequest(given.python, not given.stdout_only, given.jobs)
    outcomes = run_all(wanted, asked)
    print("\n".join(lines(outcomes)))
    if given.diff:
        print("\n".join(diffs(outcomes)))
    if given.write:
        print(write_page(outcomes))
    return int(any(not each.is_same and not each.program.known for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
