"""Writes the result for CI systems: JUnit XML, and the files in which steps leave outputs."""

from collections.abc import Iterator
from pathlib import Path

from tracegrade_ci.check import NO_BASELINE, STALE, CheckResult
from tracegrade_ci.comment import FIRST_LINE
from tracegrade_ci.errors import CheckRefused
from tracegrade_ci.pairing import OTHER_PRICES
from tracegrade_lake.out_files import out_file
from tracegrade_scoring.compare.decision.checks import HELD
from tracegrade_scoring.compare.fail_on_rules import RuleOutcome
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.junit import JunitCase, junit_xml

SUITE = "tracegrade"
BASELINE = "baseline"


def check_as_junit(result: CheckResult) -> str:
    """Return each rule of each agent as a test case, and one about the baseline."""
    return junit_xml(SUITE, _cases(result))


def _cases(result: CheckResult) -> Iterator[JunitCase]:
    yield _baseline_case(result)
    if result.paired is not None:
        for task in result.paired.changed_tasks:
            name = f"task {words.name(task)}"
            yield JunitCase(BASELINE, name, "skipped", "not comparable: tasks changed")
    if result.ruled is None:
        return
    if result.paired is not None and result.paired.other_prices:
        yield JunitCase(BASELINE, "costs", "skipped", OTHER_PRICES)
    for comparison, outcomes in result.ruled.cohorts:
        agent = words.cohort(comparison.cohort.agent_name, comparison.cohort.run_mode)
        yield from (_rule_case(agent, outcome) for outcome in outcomes)


def _baseline_case(result: CheckResult) -> JunitCase:
    if result.verdict == NO_BASELINE:
        return JunitCase(BASELINE, "there is a baseline", "skipped", words.line(result.reason))
    name = "the baseline is recent"
    if result.is_stale and result.age is not None:
        message = f"{STALE}: {words.age(result.age.total_seconds())} old"
        return JunitCase(BASELINE, name, "skipped", message)
    return JunitCase(BASELINE, name)


def _rule_case(agent: str, outcome: RuleOutcome) -> JunitCase:
    if outcome.verdict == HELD:
        return JunitCase(agent, outcome.rule)
    fact = words.line(outcome.fact)
    if outcome.verdict == "broken":
        return JunitCase(agent, outcome.rule, "failure", fact)
    return JunitCase(agent, outcome.rule, "error", fact)


def step_outputs(result: CheckResult) -> str:
    """Return the outputs of a step, one `name=value` a line; no value is a text of a trace."""
    days = "" if result.age is None else f"{max(0, result.age.days)}"
    return f"verdict={result.verdict}\nbaseline-age-days={days}\n"


def write_file(path: Path, text: str, option: str) -> None:
    """Write a file whole or not at all.

    Raises:
        CheckRefused: It cannot be written.
    """
    try:
        with out_file(path) as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(path, option, error) from error


def append_text(path: Path, text: str, option: str) -> None:
    """Append to a file that a CI system reads, such as `$GITHUB_OUTPUT`.

    Raises:
        CheckRefused: It cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(path, option, error) from error


def _unwritable(path: Path, option: str, error: OSError) -> CheckRefused:
    return CheckRefused(f"cannot write {option} {path}: {error.strerror}; name another file")


def read_comment(path: Path) -> str:
    """Return a comment that a check wrote.

    Raises:
        CheckRefused: It cannot be read, or has another first line.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        msg = f"cannot read --markdown {path}: {cause}; write it with `tracegrade ci check`"
        raise CheckRefused(msg) from error
    if not FIRST_LINE.fullmatch(text.partition("\n")[0]):
        msg = f"{path} does not begin as a comment of `tracegrade ci check`; write it with that"
        raise CheckRefused(msg)
    return text
