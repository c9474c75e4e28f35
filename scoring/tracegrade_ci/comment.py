"""Writes the comment on a pull request: the verdict, what broke, the steps of runs that show it.

Texts of traces are code spans, escaped sentences or fenced blocks, so none acts as markup.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Final

from tracegrade_ci.check import FAIL, NO_BASELINE, PASS, STALE, CheckResult, RunSteps
from tracegrade_ci.errors import CheckRefused
from tracegrade_ci.pairing import OTHER_PRICES
from tracegrade_scoring.compare.decision.texts import decision_blocks
from tracegrade_scoring.compare.fail_on_rules import RuleOutcome
from tracegrade_scoring.compare.model import Comparison
from tracegrade_scoring.compare.rule_outcomes import RuledComparison
from tracegrade_scoring.compare.texts import cohort_blocks
from tracegrade_scoring.compare.view import cohort_view, rule_rows
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import Bullets, Grid, Part, columns
from tracegrade_scoring.rendering.markdown import write_markdown
from tracegrade_scoring.rendering.markup import code, escape

MOST_BYTES: Final = 60_000
"""GitHub refuses a comment of more than 65,536 characters."""
LAST_LINE_BYTES: Final = 200
NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._]{0,59}"
FIRST_LINE: Final = re.compile(f"<!-- tracegrade:{NAME} -->")
SENTENCES: Final = {
    PASS: "No rule is broken.",
    FAIL: "A rule is broken, or could not be judged.",
    STALE: "No rule is broken, but the baseline is stale.",
    NO_BASELINE: "There is nothing to compare with.",
}


def marker(name: str) -> str:
    """Return the first line of a comment, by which the next run finds it.

    Args:
        name: Tells the checks of one pull request apart.

    Raises:
        CheckRefused: It has other characters than letters, digits, dots and underscores.
    """
    if not re.fullmatch(NAME, name):
        msg = f"--name must be 1 to 60 letters, digits, dots or underscores, got {name!r}"
        raise CheckRefused(msg)
    return f"<!-- tracegrade:{name} -->"


def comment_text(result: CheckResult, first_line: str) -> str:
    """Return the comment in Markdown, at most 60,000 bytes long.

    Args:
        result: The result of a check.
        first_line: As `marker` returns it.
    """
    text = first_line + "\n" + "\n".join(_head(result)) + "\n"
    left_out = 0
    for section in _sections(result):
        if len((text + section).encode()) <= MOST_BYTES - LAST_LINE_BYTES:
            text += section
        else:
            left_out += 1
    if left_out:
        parts = words.count(left_out, "part")
        text += f"\n{parts} of this comment did not fit; `tracegrade compare` prints all.\n"
    return text


def _head(result: CheckResult) -> Iterator[str]:
    yield f"## tracegrade: {result.verdict}"
    yield ""
    runs = words.count(result.runs, "run")
    yield f"{SENTENCES[result.verdict]} Candidate: release {_code(result.candidate)}, {runs}."
    if result.notes is not None and result.age is not None:
        commit = f", commit {_code(result.notes.commit)}" if result.notes.commit else ""
        yield ""
        yield (
            f"Baseline: release {_code(result.notes.release)}{commit}, "
            f"{words.count(result.notes.runs, 'run')}, exported "
            f"{result.notes.created:%Y-%m-%d %H:%M} UTC, {_age(result.age, result.max_age)}."
        )
    if result.reason:
        yield ""
        yield f"**{escape(words.line(result.reason))}**"
    if cautions := [*_cautions(result)]:
        yield ""
        yield from (f"- {escape(each)}" for each in cautions)


def _age(age: datetime.timedelta, max_age: datetime.timedelta) -> str:
    since = f"{words.age(age.total_seconds())} ago"
    if age <= max_age:
        return since
    return f"**{since}: stale, older than {words.count(max_age.days, 'day')}**"


def _cautions(result: CheckResult) -> Iterator[str]:
    both = result.paired
    if both is None:
        return
    if both.rescored:
        yield "Tasks or metrics changed: the baseline's runs were scored again by those of now."
    if both.changed_tasks and result.ruled is not None:
        names = ", ".join(words.name(task) for task in both.changed_tasks[:20])
        more = len(both.changed_tasks) - 20
        yield (
            f"Left out, not comparable: tasks changed: {names}"
            f"{f' and {more:,} more' if more > 0 else ''}."
        )
    if both.other_prices and result.ruled is not None:
        yield OTHER_PRICES
    for agent in both.absent_agents[:20]:
        yield f"The baseline has runs of {agent}; the candidate has none."


def _sections(result: CheckResult) -> Iterator[str]:
    """Yield the parts of the comment below its head, the most important first."""
    if result.ruled is None:
        return
    cohorts = [*result.ruled.cohorts]
    for comparison, outcomes in cohorts:
        yield _summary(comparison, outcomes, result.ruled)
    for run in result.steps:
        yield _steps(run)
    for comparison, outcomes in cohorts:
        yield _details(comparison, outcomes, result.ruled)


def _summary(
    comparison: Comparison, outcomes: Sequence[RuleOutcome], ruled: RuledComparison
) -> str:
    found = ruled.comparisons
    view = cohort_view(comparison, found)
    return write_markdown(
        [
            Part(view.title),
            Grid("", columns("rule", "", "found"), rule_rows(outcomes)),
            *decision_blocks(comparison, found, ruled.release_rule),
            Bullets("", view.findings),
        ]
    )


def _details(
    comparison: Comparison, outcomes: Sequence[RuleOutcome], ruled: RuledComparison
) -> str:
    view = cohort_view(comparison, ruled.comparisons)
    return _folded(f"All scores of {view.title}", write_markdown(cohort_blocks(view, outcomes)))


def _steps(run: RunSteps) -> str:
    """Return the steps of a run in a fence that no text of theirs can end."""
    text = "\n".join(run.lines)
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    title = f"Run {words.run(run.trajectory_id)}: {run.sentence}"
    return _folded(title, f"{fence}text\n{text}\n{fence}\n")


def _folded(title: str, text: str) -> str:
    return f"\n<details><summary>{_inert(title)}</summary>\n\n{text}\n</details>\n"


def _inert(text: str) -> str:
    """Return a text for a line of HTML, in which GitHub reads Markdown and mentions as well."""
    shown = "".join(
        each if each.isalnum() or each in " ,.-" else f"&#{ord(each)};" for each in text
    )
    return re.sub("(&#(?:64|35);)", r"\1&#8203;", shown)


def _code(text: str) -> str:
    return code(words.name(text))
