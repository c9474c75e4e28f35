"""`tracegrade compare` and its rules: what `--fail-on` judges, exit codes, and what is refused."""

import json
import re
from pathlib import Path

import pytest
from tests.scoring.report.build import Tables, as_lake

from tracegrade.cli import main
from tracegrade_scoring.compare.fail_on_rules import parse_rules
from tracegrade_scoring.compare.model import Comparison
from tracegrade_scoring.errors import BadRule


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("tsa<-0.02", "held"),
        ("tsa > 0.1", "broken"),
        ("tsa.candidate<0.9", "broken"),
        ("pq<=-1", "broken"),
        ("pq<-1", "held"),
        ("pass^2<0", "held"),
        ("tokens_per_run.ratio>=1.2", "broken"),
        ("success.high<0", "held"),
        ("new-failure-mode", "broken"),
        ("failure-mode-rose", "held"),
        ("late_ra<7", "unjudged"),
        ("cost_usd_per_run>0.1", "unjudged"),
    ],
)
def test_rules_judge_the_numbers(files: Comparison, rule: str, verdict: str) -> None:
    """A bound on a difference or another field; what was not measured cannot be judged."""
    (parsed,) = parse_rules([rule])

    assert parsed.judge(files).verdict == verdict


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("tas<-0.02", "names an unknown metric 'tas'; did you mean 'tsa'?"),
        ("tsa.candidat<1", "names an unknown field 'candidat'; did you mean 'candidate'?"),
        ("new-failure-modes", "is not understood; did you mean 'new-failure-mode'?"),
    ],
)
def test_misspelt_rule_is_told_what_it_may_mean(rule: str, hint: str) -> None:
    """A metric, a field or a rule on failure modes."""
    with pytest.raises(BadRule, match=re.escape(hint)):
        parse_rules([rule])


@pytest.mark.parametrize("rule", ["tsa", "tsa<", "tsa<x", "nope<1", "tsa.mean<1", "<1", "pass<1"])
def test_rule_that_says_nothing_is_refused(rule: str) -> None:
    """Before anything is read, with a way out."""
    with pytest.raises(BadRule, match="the rule"):
        parse_rules([rule])


@pytest.fixture(scope="module")
def lake(compared: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two releases as files."""
    return as_lake(compared, tmp_path_factory.mktemp("compared") / "lake").root


def run(*arguments: str | Path) -> int:
    """Run the command in this process and return its exit code."""
    with pytest.raises(SystemExit) as exit_:
        main(["compare", *map(str, arguments)])
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


def test_broken_rule_exits_with_1_after_the_comparison(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything is still on stdout; stderr has one line that names what broke."""
    rules = ("--fail-on", "tsa<-0.02", "--fail-on", "new-failure-mode")
    assert run("1.0", "1.1", "--lake", lake, "--format", "json", *rules) == 1
    out, err = capsys.readouterr()

    assert [rule["verdict"] for rule in json.loads(out)["comparisons"][0]["rules"]] == [
        *("held", "broken"),
    ]
    assert err.splitlines() == [
        "tracegrade: stopped by --fail-on: new-failure-mode (files: loop_trap)"
    ]


def test_rules_that_hold_exit_with_0(lake: Path, tmp_path: Path) -> None:
    """The Markdown goes to the file."""
    page = tmp_path / "pull-request.md"

    assert run("1.0", "1.1", "--lake", lake, "--fail-on", "tsa<-0.02", "--format", "markdown",
               "--out", page) == 0  # fmt: skip
    assert page.read_text().startswith("# `1.0` → `1.1`\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("1.0", "2.0"),
        ("1.0", "1.0"),
        ("1.0", "1.1", "--agent", "x"),
        ("1.0", "1.1", "--fail-on", "x"),
    ],
)
def test_what_cannot_be_compared_is_bad_input(
    lake: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, one line, nothing on stdout."""
    assert run(*arguments, "--lake", lake) == 2

    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
