"""The work of the `judge` commands: each prints and ends with an exit code."""

from collections.abc import Sequence
from functools import partial
from math import isfinite
from pathlib import Path

from tracegrade.terminal.progress import progress as shown_progress
from tracegrade.terminal.visible import echo, visible
from tracegrade_judges.calibration.calibrate import CalibrationResult, calibrate
from tracegrade_judges.calibration.label_files import draw_labels, import_labels
from tracegrade_judges.calls.spending import SpendingLimits
from tracegrade_judges.errors import (
    JudgeCheckFailed,
    JudgeEndpointFailed,
    JudgeUncalibrated,
    LabelsUnusable,
    NoSpendingLimit,
    NotAllJudged,
)
from tracegrade_judges.judge_file.load import LoadedJudges, load_judges, usable_judges
from tracegrade_judges.run.estimate import JudgeEstimate, estimate
from tracegrade_judges.run.judging import Progress
from tracegrade_judges.run.open_lake import JudgingOptions, judged_lake
from tracegrade_judges.run.run import JudgedRuns, run_judges
from tracegrade_judges.twins.flips import FlipCounts
from tracegrade_judges.twins.twins import TwinnedJudge, ask_twins
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import open_lake
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.rendering import words

say = partial(echo, err=True)


def opened(location: str) -> Lake:
    """Return the lake that an option names."""
    return open_lake(location, say)


def _usable(path: Path) -> LoadedJudges:
    """Return a judge file without errors, after its notes were printed."""
    loaded = usable_judges(path)
    for note in loaded.problems:
        say(str(note))
    return loaded


def check_file(path: Path) -> None:
    """Print every error of a judge file, and every note.

    Raises:
        JudgeCheckFailed: There is one.
        JudgeFileUnreadable: It cannot be read.
    """
    loaded = load_judges(path)
    for problem in loaded.problems:
        echo(problem, err=problem.is_note)
    if loaded.errors:
        count = len(loaded.errors)
        errors = "1 error" if count == 1 else f"{count} errors"
        msg = f"{errors} in judge file '{path}'; each is named above with its line"
        raise JudgeCheckFailed(msg)
    say(f"{_contents(loaded)} are well-formed")


def _contents(loaded: LoadedJudges) -> str:
    """Return what a file has: judges and documents always, panels and rubrics if there are any."""
    file = loaded.file
    judges, panels, rubrics = (file.judges, file.panels, file.rubrics) if file else ({}, {}, {})
    parts = [words.count(len(judges), "judge")]
    parts += [words.count(len(panels), "panel")] if panels else []
    parts += [words.count(len(rubrics), "rubric")] if rubrics else []
    return f"{', '.join(parts)} and {words.count(len(loaded.documents), 'document')}"


def show_estimate(location: str, path: Path, only: str | None) -> None:
    """Print what a run would take."""
    for found in estimate(opened(location), usable_judges(path), only):
        echo(_estimate_line(found))
        _say_if_none(found.judge, found.questions)


def _say_if_none(judge: str, questions: int) -> None:
    """Say which questions a judge without questions would answer."""
    if not questions:
        say(
            f"{judge}: nothing to ask; no scored run that it may judge has a task with a "
            "sub-goal's `success: {judge: TEXT}`, or, for `subject: success`, a task with a "
            "`reference`, or, for `subject: planning`, a plan with an open question, or, for "
            "`subject: served`, a call that several sub-goals may claim"
        )


def _estimate_line(found: JudgeEstimate) -> str:
    source = "by earlier judgments" if found.from_calls else "by the judge's limits"
    usd = "" if found.high_usd is None else f"; at most ${found.high_usd:.4f}"
    return (
        f"{found.judge}: {found.questions} questions, {found.uncached} not in the cache; tokens "
        f"low {found.low:,}, expected {found.expected:,}, high {found.high:,} ({source}){usd}"
    )


def spending_limits(
    max_usd: float | None, max_tokens: int | None, max_calls: int | None, *, offline: bool
) -> SpendingLimits:
    """Return what a run may spend.

    Raises:
        NoSpendingLimit: No limit is given, and requests are allowed.
    """
    if max_usd is not None and not isfinite(max_usd):
        msg = f"--max-usd {max_usd} is not an amount; give US dollars, or --max-tokens"
        raise NoSpendingLimit(msg)
    if max_usd is None and max_tokens is None and max_calls is None and not offline:
        msg = (
            "nothing limits what judges may spend; give --max-usd or --max-tokens or --max-calls "
            "(`tracegrade judge estimate` says how much it takes), or --offline"
        )
        raise NoSpendingLimit(msg)
    return SpendingLimits(max_usd, max_tokens, max_calls)


def run(location: str, path: Path, options: JudgingOptions) -> None:
    """Ask judges and write what they say.

    Raises:
        JudgeEndpointFailed: The endpoint refuses requests, or failed again and again.
        NoSpendingLimit: The model does not count, and the number of calls has no limit.
        NotAllJudged: The budget ended, or an answer was not in the cache, before all was judged.
    """
    with shown_progress() as show:
        found = run_judges(opened(location), usable_judges(path), options, show)
    for each in found:
        echo(_judged_line(each))
        _say_if_none(each.judge, each.questions)
        if each.own_verdicts:
            say(
                f"{each.judge}: scores count earlier verdicts of {', '.join(each.own_verdicts)} "
                "next to the panel's; to take them back, import them with `withdrawn: true`"
            )
        if each.related:
            say(
                f"{each.judge}: its model is related to {visible(each.related)}, whose runs it "
                "judges; models prefer their own"
            )
    _raise_unfinished([(each.judge, each.progress) for each in found])


def _judged_line(each: JudgedRuns) -> str:
    progress = each.progress
    lines = [
        f"{each.judge}: {each.questions} questions, {len(progress.verdicts)} verdicts "
        f"({progress.errors} errors), {each.tokens:,} tokens, ${each.usd:.4f}",
        f"added {each.written['added']}, replaced {each.written['replaced']}, "
        f"known {each.written['known']}",
    ]
    if progress.disagreements:
        lines.append(f"judges disagreed on {progress.disagreements}, {progress.ties} of them ties")
    if progress.not_cached:
        lines.append(f"not_cached {len(progress.not_cached)}")
    if progress.not_judged:
        lines.append(f"not_judged {progress.not_judged}")
    return "; ".join(lines)


def _raise_unfinished(found: Sequence[tuple[str, Progress]]) -> None:
    for name, progress in found:
        judge, stopped = progress.stopped_at or name, progress.stopped_by
        if stopped == "failures":
            msg = (
                f"the endpoint of judge '{judge}' failed 20 times in a row, "
                f"{progress.not_judged} not judged; run the same command to continue"
            )
            raise JudgeEndpointFailed(msg)
        if stopped == "no_usage":
            msg = (
                f"the model of judge '{judge}' does not report its usage, so a budget cannot "
                f"hold, {progress.not_judged} not judged; give --max-calls"
            )
            raise NoSpendingLimit(msg)
        if stopped and stopped != "budget":
            msg = (
                f"the endpoint of judge '{judge}' refuses requests with {stopped}; "
                "check its base_url, name and api_key"
            )
            raise JudgeEndpointFailed(msg)
    left = sum(progress.not_judged for _, progress in found)
    uncached = sum(len(progress.not_cached) for _, progress in found)
    if left:
        msg = (
            f"the budget is spent, {left} not judged; the same command with a higher "
            "--max-usd, --max-tokens or --max-calls continues from here"
        )
        raise NotAllJudged(msg)
    if uncached:
        msg = f"{uncached} not judged, whose calls are not in the lake; run without --offline"
        raise NotAllJudged(msg)


def twins(location: str, path: Path, options: JudgingOptions, count: int, seed: int) -> None:
    """Ask judges about twins of runs, and print how often they were moved.

    Raises:
        JudgeEndpointFailed: The endpoint refuses requests, or failed again and again.
        NoSpendingLimit: The model does not count, and the number of calls has no limit.
        NotAllJudged: The budget ended, or an answer was not in the cache.
    """
    found = ask_twins(opened(location), usable_judges(path), options, count, seed)
    for each in found:
        for row in each.counts:
            echo(_twin_line(each, row))
    _raise_unfinished([(each.judge, each.progress) for each in found])


def _twin_line(each: TwinnedJudge, row: FlipCounts) -> str:
    statement = (
        "an answer compared with the right one" if each.subject == "success" else "a criterion"
    )
    what = {
        "attacks": "attacks turned no into yes in",
        "padding": "padding changed the verdict of",
        "negation": f"yes to {statement} and to its opposite in",
    }[row.kind]
    where = f" ({row.place})" if row.place else ""
    ends = row.interval
    rate = "" if ends is None else f": {row.rate:.3f} ({ends[0]:.3f} to {ends[1]:.3f})"
    found = f"{what} {row.flipped} of {row.twins}{where}{rate}"
    return f"{each.judge}: {found}; {row.errors} errors apart"


def label_verdicts(
    location: str,
    judge: str,
    draw: tuple[int, int],
    files: tuple[Path | None, Path | None, str],
) -> None:
    """Draw verdicts to label into a file, or take labels out of one.

    Raises:
        LabelsUnusable: Both files are given, or neither; or their contents cannot be used.
        NothingToJudge: The judge has no verdict.
    """
    out, labels, by = files
    if (out is None) == (labels is None):
        msg = (
            "give either --out FILE, to draw verdicts, or --labels FILE --by NAME, to take labels"
        )
        raise LabelsUnusable(msg)
    with judged_lake(opened(location)) as lake:
        if out is not None:
            count = draw_labels(lake, judge, *draw, out)
            echo(f"{count} verdicts of judge '{judge}' to label are in {out}")
        elif labels is not None:
            taken = import_labels(lake, judge, labels, by)
            echo(
                f"{taken.labels} labels of {by.strip()}; {taken.empty} items without one; "
                f"added {taken.written['added']}, replaced {taken.written['replaced']}"
            )


def show_calibration(location: str, judge: str) -> None:
    """Measure a judge, and print the result.

    Raises:
        JudgeUncalibrated: The labels are too few, or agree too little.
        NothingToCalibrate: There is no label.
        NothingToJudge: The judge has no verdict.
    """
    with judged_lake(opened(location)) as lake:
        found = calibrate(lake, judge)
    for line in _calibration_lines(found):
        echo(line)
    if not found.calibrated:
        msg = (
            f"judge '{judge}' is not calibrated ({found.calibration['reason']}): that takes 50 "
            "labels, 10 of them yes and 10 no, and a kappa whose interval is above 0.4"
        )
        raise JudgeUncalibrated(msg)


def _calibration_lines(found: CalibrationResult) -> list[str]:
    row = found.calibration
    counts = "both_yes", "only_source_yes", "only_people_yes", "both_no"
    labels = {
        "agreement": "agreement",
        "kappa": "kappa",
        "ac1": "AC1",
        "true_yes_rate": "true yes rate",
        "true_no_rate": "true no rate",
    }
    people = "unknown" if row["people_kappa"] is None else f"{row['people_kappa']:.3f}"
    return [
        f"labels {row['labels']} (undecided {row['undecided']}): "
        + ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in counts),
        *(f"{name} {_interval(row, column)}" for column, name in labels.items()),
        f"two people on the same {row['labeled_by_two']}: kappa {people}",
        *(
            f"{_named(rate)} {rate['subject']}: judge says yes of "
            f"{rate['judged_yes']}/{rate['judged']}, people would of "
            f"{_interval(rate, 'corrected_rate')}; PPI++ by its {rate['labels']} labels "
            f"{_interval(rate, 'ppi_rate')}"
            for rate in found.rates
        ),
    ]


def _named(rate: ResultRow) -> str:
    return visible(f"{rate['agent_name'] or 'unnamed'} {rate['release'] or 'of no release'}")


def _interval(row: ResultRow, column: str) -> str:
    value, low, high = (row[f"{column}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "unknown"
    return f"{value:.3f}" + ("" if low is None else f" ({low:.3f} to {high:.3f})")
