"""`harness run --fail-on`: the rules that say when a run stops a pipeline."""

from pathlib import Path

import pytest
from tests.harness.results import kill, result
from tests.harness.trial.agents import WROTE, made

from tracegrade_harness.errors import NotPassed
from tracegrade_harness.fail_on import parse_run_rules, raise_broken
from tracegrade_scoring.errors import BadRule

RESULTS = [
    *(result(trial=trial, success=trial > 1) for trial in (1, 2, 3, 4)),
    *(result(task_id="ship", trial=trial) for trial in (1, 2, 3, 4)),
    result(task_id="lost", success=None, status="error"),
    kill("early"),
    kill("late", after_recovery=3),
]
"""Seven of eight judged trials succeeded, three of four of the worst case."""


@pytest.mark.parametrize(
    "rule",
    ["success<0.875", "success.mean<0.875", "success.lowest<0.75", "rollback<6.5", "success>1"],
)
def test_a_rule_holds(rule: str) -> None:
    """At its very bound, too."""
    raise_broken(parse_run_rules([rule]), RESULTS)


@pytest.mark.parametrize(
    ("rule", "fact"),
    [
        ("success<1", "success<1 (worker 1: success is 0.875)"),
        ("success<=0.875", "success is 0.875"),
        ("success.lowest < 0.8", "success of pay is 0.75"),
        ("rollback<7", "rollback is 6.5"),
    ],
)
def test_a_broken_rule_says_what_was_found(rule: str, fact: str) -> None:
    """It also names the agent."""
    with pytest.raises(NotPassed) as stopped:
        raise_broken(parse_run_rules([rule]), RESULTS)

    assert fact in str(stopped.value)


def test_each_agent_is_judged_by_itself() -> None:
    """One that is good does not make up for another."""
    other = result(agent_name="other", release=None, success=False)

    with pytest.raises(NotPassed, match=r"\(other: success is 0\)$"):
        raise_broken(parse_run_rules(["success<0.5"]), [*RESULTS, other])


def test_what_cannot_be_judged_stops_a_pipeline() -> None:
    """As with comparisons."""
    with pytest.raises(NotPassed, match="there is no rollback to judge by"):
        raise_broken(parse_run_rules(["rollback<1"]), [result()])


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("success", "is not understood; write success<NUMBER"),
        ("tsa<0.9", "score the lake, then give it to `tracegrade compare --fail-on`"),
        ("late_refunds>0.1", "score the lake, then give it to `tracegrade compare --fail-on`"),
        ("sucess<1", "known: success, rollback"),
        ("success.high<1", "known: mean, lowest"),
    ],
)
def test_what_a_run_does_not_know_is_refused(rule: str, hint: str) -> None:
    """With the judge who does."""
    with pytest.raises(BadRule) as refused:
        parse_run_rules([rule], own=["late_refunds"])

    assert hint in str(refused.value)


def test_a_rule_takes_the_place_of_single_trials(tmp_path: Path) -> None:
    """One of two cases fails, which a run without rules ends with."""
    suite = made(tmp_path, {"careless": {"verify": [WROTE]}, "reader": {"verify": [WROTE]}})
    passed = suite.run("--jobs", 2, "--fail-on", "success<0.5").ended
    run = suite.rows[0]["run"]
    stopped = suite.run("--resume", run, "--fail-on", "success<0.6").ended
    plain = suite.run("--resume", run).ended

    assert passed is not None
    assert passed.returncode == 0, passed.stderr
    assert stopped is not None
    assert stopped.returncode == 1
    assert "stopped by --fail-on: success<0.6 (worker 1: success is 0.5)" in stopped.stderr
    assert plain is not None
    assert plain.returncode == 1
