"""Turns runs of a lake into files of a suite; only this module touches files."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.draft.expectations import Expectations, expectations
from tracegrade_harness.draft.files import (
    SUITE,
    TASKS,
    AgentStart,
    DraftedCase,
    named_cases,
    plain_name,
    suite_text,
    tape,
    tasks_text,
)
from tracegrade_harness.draft.missing import MissingContent, Reason, missing_content
from tracegrade_harness.draft.runs import CapturedRun, ChosenRuns, captured_runs
from tracegrade_harness.errors import EnvironmentFailed, SuiteUnusable
from tracegrade_harness.tape.entries import write_tape
from tracegrade_harness.tape.tools import is_tool
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.rendering.words import count
from tracegrade_scoring.tasks.load import Specification
from tracegrade_scoring.tasks.stored import known_specification

MAX_NAMED: Final = 3
"""Number of missing items that the line about a run names."""

Lacking = tuple[CapturedRun, Sequence[MissingContent]]


class Drafted(NamedTuple):
    """The cases made of runs, and the runs that were left out."""

    cases: Sequence[DraftedCase]
    left_out: Sequence[Lacking]
    """Runs that became no case, because they lack content."""
    known: Expectations

    @property
    def reasons(self) -> Mapping[Reason, int]:
        """Number of runs left out, by reason; a run may have several reasons."""
        return Counter(
            reason for _, lacks in self.left_out for reason in {each.reason for each in lacks}
        )


def drafted(
    lake: Lake, given: Specification, chosen: ChosenRuns, *, incomplete: bool = False
) -> Drafted:
    """Return the chosen runs of a lake as cases.

    Args:
        lake: The lake, scored.
        given: The task files; if there are none, the task files in the lake count.
        chosen: The runs.
        incomplete: Runs that lack something become cases, too.

    Raises:
        SuiteUnusable: The lake was never scored, or no run is chosen.
    """
    with connect(lake, layers=(SCORES,)) as con:
        if not con.sql("SELECT 1 FROM trajectory_scores LIMIT 1").fetchall():
            msg = (
                f"the lake at {lake.location} was never scored, so no failure of its runs is known"
            )
            command = f"tracegrade score --lake {shlex.quote(lake.location)}"
            msg += f"; run `{command}`, with --tasks if there are any"
            raise SuiteUnusable(msg)
        known = expectations(con, known_specification(lake, given))
        runs = [(run, missing_content(run)) for run in captured_runs(con, chosen)]
    whole = [(run, lacks) for run, lacks in runs if incomplete or not lacks]
    left_out = [(run, lacks) for run, lacks in runs if lacks and not incomplete]
    return Drafted([*named_cases(whole)], left_out, known)


def write_suite(folder: Path, made: Drafted, started: AgentStart, *, replace: bool) -> None:
    """Write a suite, its task file and its tapes; other files of the folder stay.

    Raises:
        EnvironmentFailed: A file cannot be written.
        SuiteUnusable: A file already exists, and must not be replaced.
    """
    suite = plain_name(folder.resolve().name or "drafted")
    tapes = {folder / case.tape: tape(case, suite) for case in made.cases}
    texts = {
        folder / TASKS: tasks_text(made.cases, made.known),
        folder / SUITE: suite_text(made.cases, suite, started),
    }
    there = [file for file in (*texts, *tapes) if file.exists()]
    if there and not replace:
        msg = f"'{there[0]}' already exists; give another --out, or --replace to write it again"
        raise SuiteUnusable(msg)
    try:
        for file, each in tapes.items():
            write_tape(file, each)
        for file, text in texts.items():  # the suite comes last because it names the others
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write '{error.filename or folder}': {error.strerror}; give another --out"
        raise EnvironmentFailed(msg) from error


def lines(made: Drafted) -> Iterator[str]:
    """Yield one line about each run, then how many runs were left out and why."""
    for case in made.cases:
        run = case.captured.run
        expected = "nothing is expected" if made.known.task(run) is None else "expectations known"
        answers = Counter(is_tool(key) for key, *_ in tape(case, "").entries)
        running = case.captured.running_tools
        runs_as_is = f", {count(running, 'call')} of tools that run as they are" if running else ""
        yield (
            f"case {case.name}: run {run.trajectory_id}, {count(answers[False], 'model answer')}, "
            f"{count(answers[True], 'call')} of tools{runs_as_is}, {expected}"
        )
    for captured, lacks in made.left_out:
        named = [f"{each.what} ({each.reason})" for each in lacks[:MAX_NAMED]]
        more = f", and {len(lacks) - MAX_NAMED} more" if len(lacks) > MAX_NAMED else ""
        yield f"left out: run {captured.run.trajectory_id} lacks {', '.join(named)}{more}"
    counted = ", ".join(f"{count} {reason}" for reason, count in sorted(made.reasons.items()))
    because = f" ({counted}); --incomplete takes them, too" if counted else ""
    cases, runs = count(len(made.cases), "case"), count(len(made.left_out), "run")
    yield f"drafted {cases}, left out {runs}{because}"
