"""The table of host programs' results, for a terminal and for the documentation."""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Final

from .program import Program
from .running import Outcome

PAGE: Final = Path(__file__).parents[2] / "docs/internals/host-programs.md"
_BEGIN: Final = "| program | about | spans | result |\n|---|---|---|---|\n"
_TABLE: Final = re.compile(re.escape(_BEGIN) + r"(?:\|.*\n)*\n[^\n]*\n")
HEAD = ("program", "about", "same?", "exit", "landed", "lost", "secs", "with")


def lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the table's lines, the differences below each program, and a summary."""
    rows = [HEAD, *map(_row, outcomes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    for number, row in enumerate(rows):
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
        if number:
            yield from (f"    {each}" for each in outcomes[number - 1].differences)
    yield summary(outcomes)


def diffs(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the differences in the output of programs, as lines of a diff."""
    for each in outcomes:
        if each.is_same or not each.without or not each.beside:
            continue
        for stream in ("stdout", "stderr"):
            before, after = (getattr(ended, stream) for ended in (each.without, each.beside))
            names = (f"{each.program} {stream}", "with it")
            yield from unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return how many were the same, differed and were skipped."""
    skipped = sum(bool(each.skipped) for each in outcomes)
    differ = sum(not each.is_same for each in outcomes)
    same = len(outcomes) - skipped - differ
    return f"{same} same, {differ} differ, {skipped} skipped"


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Write the results of all programs into the documentation, and return a summary.

    A program that was not run keeps its row; rows of deleted programs are removed.
    """
    text = PAGE.read_text()
    kept = sum(bool(_old_row(each, text)) for each in outcomes)
    rows = [_old_row(each, text) or _new_row(each) for each in outcomes]
    same = sum(row.endswith("| same |\n") for row in rows)
    table = f"{_BEGIN}{''.join(rows)}\n{same} of {len(rows)} show the same.\n"
    PAGE.write_text(_TABLE.sub(lambda _: table, text))
    return f"wrote {PAGE.name}: {len(rows) - kept} rows, and kept {kept} of programs not run"


def _old_row(outcome: Outcome, text: str) -> str:
    """Return the row of a program that could not be run; empty if there is none."""
    found = re.search(rf"^{re.escape(named(outcome.program))}.*\n", text, re.MULTILINE)
    return found[0] if outcome.skipped and found else ""


def _new_row(outcome: Outcome) -> str:
    return f"{named(outcome.program)} {outcome.landed} | {_end(outcome)} |\n"


def named(program: Program) -> str:
    """Return the beginning of a program's row in the documentation."""
    about = program.about.replace("|", "\\|")
    return f"| `{program.folder}/{program}` | {about} |"


def _end(outcome: Outcome) -> str:
    if outcome.skipped:
        return f"not run: {outcome.skipped}"
    return "same" if outcome.is_same else f"differs: {outcome.program.known}"


def _row(outcome: Outcome) -> tuple[str, ...]:
    about = outcome.program.about
    about = about if len(about) <= 60 else f"{about[:57]}..."
    if outcome.skipped or not outcome.beside or not outcome.without:
        return (str(outcome.program), about, "skipped", outcome.skipped, "", "", "", "")
    return (
        str(outcome.program),
        about,
        "same" if outcome.is_same else "DIFFERS",
        outcome.beside.exit,
        str(outcome.landed),
        str(outcome.lost),
        f"{outcome.without.secs:.1f}",
        f"{outcome.beside.secs:.1f}",
    )
