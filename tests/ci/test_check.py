"""A check gives the verdict of `compare`, and names what it cannot compare."""

import datetime
import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.commands import tracegrade

from tracegrade.terminal.visible import echo
from tracegrade_ci.check import CheckResult
from tracegrade_ci.run import CheckRequest, check_lake
from tracegrade_scoring.compare.as_json import render_json

from .lakes import BASE, CANDIDATE, Sample, change_task, sample

HELD_RULE = ("--fail-on", "success<-0.9")


def written(result: CheckResult) -> Any:
    """Return a comparison as JSON has it, without what a baseline does not have."""
    assert result.ruled is not None
    return comparable(json.loads(render_json(result.ruled)))


def comparable(document: Any) -> Any:
    """Return a comparison without what a baseline does not have."""
    for comparison in document["comparisons"]:
        del comparison["mock_live_divergence"]
        for reason in comparison["reasons"]:
            if not reason["candidate_runs"]:
                reason["sentence"] = ""
    del document["lake"]
    return document


def aged(baseline: Path, days: float) -> None:
    """Let a baseline be this old."""
    notes = json.loads((baseline / "baseline.json").read_text())
    created = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)
    notes["created"] = created.isoformat()
    (baseline / "baseline.json").write_text(json.dumps(notes))


def test_numbers_are_those_of_compare(both: Sample, candidate: Sample, baseline: Path) -> None:
    """Each value, interval, p-value, rule and run of the comparison of one lake with both."""
    rules = ("new-failure-mode", "success<-0.1", "tsa.low<-0.5")
    options = [text for rule in rules for text in ("--fail-on", rule)]
    lake = ("--lake", both.lake, "--format", "json")
    compared = tracegrade("compare", BASE, CANDIDATE, *lake, *options)
    request = CheckRequest(str(candidate.lake), baseline, CANDIDATE, fail_on=rules)

    result = check_lake(request, partial(echo, err=True))

    assert result.verdict == "fail"
    assert written(result) == comparable(json.loads(compared.stdout))


def test_broken_rule_fails(candidate: Sample, baseline: Path, tmp_path: Path) -> None:
    """The exit code is 1, and each file says why."""
    files = {name: tmp_path / name for name in ("markdown", "junit", "summary", "outputs")}
    options = [text for name, path in files.items() for text in (f"--{name}", path)]
    files["outputs"].write_text("before=1\n")

    done = candidate.check(baseline, *options, "--fail-on", "success<0", *HELD_RULE)

    assert (done.returncode, done.stdout) == (1, "verdict: fail\n")
    assert "stopped by --fail-on: success<0 (order-desk: difference of success is -0.5" in (
        done.stderr
    )
    assert files["outputs"].read_text() == "before=1\nverdict=fail\nbaseline-age-days=0\n"
    assert files["markdown"].read_text() == files["summary"].read_text()
    root = ElementTree.parse(files["junit"]).getroot()  # noqa: S314 - ours
    assert root.get("failures") == "1"
    assert [(case.get("classname"), case.get("name"), len(case)) for case in root] == [
        ("baseline", "the baseline is recent", 0),
        ("order-desk", "success<0", 1),
        ("order-desk", "success<-0.9", 0),
    ]


def test_unjudged_rule_fails(candidate: Sample, baseline: Path, tmp_path: Path) -> None:
    """As in `compare`: a value that is missing stops a pipeline."""
    junit = tmp_path / "junit.xml"

    done = candidate.check(baseline, "--fail-on", "t_score<0", "--junit", junit)

    assert done.returncode == 1
    assert ElementTree.parse(junit).getroot().get("errors") == "1"  # noqa: S314 - ours


def test_kept_rules_pass(candidate: Sample, baseline: Path) -> None:
    """The exit code is 0."""
    done = candidate.check(baseline, *HELD_RULE)

    assert (done.returncode, done.stdout) == (0, "verdict: pass\n")


def test_without_rules_a_new_failure_mode_fails(candidate: Sample, baseline: Path) -> None:
    """Rules are optional."""
    done = candidate.check(baseline)

    assert (done.returncode, done.stdout) == (1, "verdict: fail\n")
    assert "new-failure-mode (order-desk: premature_commitment)" in done.stderr


def test_old_baseline_is_stale(candidate: Sample, baseline: Path, tmp_path: Path) -> None:
    """After 15 days; the exit code is 0, and the comment says so in bold."""
    aged(baseline, 15.01)
    comment = tmp_path / "comment.md"

    done = candidate.check(baseline, *HELD_RULE, "--markdown", comment)

    assert (done.returncode, done.stdout) == (0, "verdict: stale\n")
    assert "**15 days ago: stale, older than 14 days**" in comment.read_text()


def test_stale_baseline_does_not_hide_a_broken_rule(candidate: Sample, baseline: Path) -> None:
    """The verdict is that of the rule."""
    aged(baseline, 15.01)

    assert candidate.check(baseline).stdout == "verdict: fail\n"
    assert candidate.check(baseline, *HELD_RULE, "--max-age-days", 16).stdout == "verdict: pass\n"


def test_no_baseline_passes_and_is_named(candidate: Sample, tmp_path: Path) -> None:
    """The first run of a repository has none."""
    comment = tmp_path / "comment.md"

    done = candidate.check(tmp_path / "none", "--markdown", comment)

    assert done.returncode == 0
    assert done.stdout.startswith("verdict: no-baseline: ")
    assert "There is nothing to compare with." in comment.read_text()


@pytest.mark.parametrize(
    ("notes", "reason"),
    [
        ({"version": 2}, "another version of tracegrade wrote it"),
        ({"scorer_version": "1"}, "not comparable: it was scored by version 1"),
    ],
)
def test_other_versions_are_not_compared(
    candidate: Sample, baseline: Path, notes: dict[str, object], reason: str
) -> None:
    """An upgrade of tracegrade must not stop all pull requests."""
    path = baseline / "baseline.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | notes))

    done = candidate.check(baseline)

    assert done.returncode == 0
    assert done.stdout.startswith(f"verdict: no-baseline: {reason}")


@pytest.mark.parametrize("known", [True, False])
def test_costs_by_other_prices_are_not_compared(
    candidate: Sample, baseline: Path, tmp_path: Path, *, known: bool
) -> None:
    """Nor those of a baseline without a digest; costs by the same prices are compared."""
    comment, junit = tmp_path / "comment.md", tmp_path / "junit.xml"
    files = ("--markdown", comment, "--junit", junit)
    candidate.check(baseline, *HELD_RULE, *files)
    assert "Costs are not compared" not in comment.read_text() + junit.read_text()
    assert "no cost is known" not in comment.read_text()
    if known:
        prices = tmp_path / "prices.yaml"
        prices.write_text("{version: 1, models: {'*': {input: 7, output: 7}}}")
        options = ("--tasks", candidate.tasks, "--prices", prices)
        assert tracegrade("score", "--lake", candidate.lake, *options).returncode == 0
    else:
        notes = json.loads((baseline / "baseline.json").read_text())
        del notes["prices"]
        (baseline / "baseline.json").write_text(json.dumps(notes))

    done = candidate.check(baseline, *HELD_RULE, *files)

    assert done.stdout == "verdict: pass\n"
    assert "Costs are not compared: the baseline" in comment.read_text()
    assert "Costs are not compared" in junit.read_text()
    assert "$" not in comment.read_text()


@pytest.mark.parametrize("file", ["baseline.json", "trajectory_scores.parquet"])
def test_damaged_baseline_is_an_error(candidate: Sample, baseline: Path, file: str) -> None:
    """It is not taken for a missing one."""
    (baseline / file).write_bytes(b'{"version": 1')

    done = candidate.check(baseline)

    assert done.returncode == 2
    assert "cannot be read" in done.stderr
    assert "tracegrade ci baseline" in done.stderr


def test_changed_tasks_are_left_out(candidate: Sample, baseline: Path, tmp_path: Path) -> None:
    """The others are compared; the comment and JUnit name those that changed."""
    change_task(candidate.tasks, "cancel-shipped")
    comment, junit = tmp_path / "comment.md", tmp_path / "junit.xml"

    done = candidate.check(baseline, *HELD_RULE, "--markdown", comment, "--junit", junit)

    assert done.stdout == "verdict: pass\n"
    assert "not comparable: tasks changed: cancel-shipped" in comment.read_text()
    assert "10 of 11 | 5 of 11" in comment.read_text()
    assert "task cancel-shipped" in junit.read_text()


def test_all_tasks_changed_is_no_comparison(candidate: Sample, baseline: Path) -> None:
    """There is nothing left to compare."""
    for line in candidate.tasks.read_text().splitlines():
        if line.startswith("  ") and line.endswith(":") and not line.startswith("   "):
            name = line.strip().removesuffix(":")
            if name in json.loads((baseline / "baseline.json").read_text())["task_hashes"]:
                change_task(candidate.tasks, name)

    done = candidate.check(baseline)

    assert done.returncode == 0
    assert "verdict: no-baseline: not comparable: tasks changed (cancel-early, " in done.stdout
    assert "and 7 more" in done.stdout


def test_lake_with_the_base_is_scored_again(both: Sample, baseline: Path, tmp_path: Path) -> None:
    """Where the lake has the spans of the baseline's release, changed tasks are compared."""
    shutil.copytree(both.lake.parent, tmp_path / "sample")
    here = Sample(tmp_path / "sample" / "lake", tmp_path / "sample" / "tasks.yaml")
    change_task(here.tasks, "cancel-shipped")
    comment = tmp_path / "comment.md"

    done = here.check(baseline, *HELD_RULE, "--markdown", comment)

    assert done.stdout == "verdict: pass\n"
    assert "11 of 12 | 5 of 12" in comment.read_text()
    assert "were scored again" in comment.read_text()


def test_runs_of_the_baseline_are_not_a_candidate(both: Sample, baseline: Path) -> None:
    """A release that is never changed would be compared with itself."""
    done = both.check(baseline, candidate=BASE)

    assert done.returncode == 2
    assert "12 runs of the candidate" in done.stderr
    assert "give the runs of this change a release of their own" in done.stderr


def test_same_release_name_is_compared(candidate: Sample, tmp_path: Path) -> None:
    """Where each lake has other runs of it."""
    other = sample(tmp_path / "other", BASE, rename={BASE: CANDIDATE})
    other.score()
    assert other.export(tmp_path / "base", release=CANDIDATE).returncode == 0
    comment = tmp_path / "comment.md"

    done = candidate.check(tmp_path / "base", "--markdown", comment)

    assert done.stdout == "verdict: fail\n"
    assert "| metric | 1.1 \\(baseline\\) | 1.1 |" in comment.read_text()


def test_agents_without_runs_are_named(candidate: Sample, tmp_path: Path) -> None:
    """A run that crashed before its first span must not look like a pass."""
    other = sample(tmp_path / "other", BASE, rename={"order-desk": "night-desk"})
    other.score()
    assert other.export(tmp_path / "base").returncode == 0

    done = candidate.check(tmp_path / "base")

    assert done.returncode == 0
    assert "verdict: no-baseline: no agent has scored runs of both" in done.stdout


@pytest.mark.parametrize("rule", ["reopened", "new-issue>2%"])
def test_rules_on_issues_are_refused(candidate: Sample, baseline: Path, rule: str) -> None:
    """A baseline has one release, so it cannot be known which issues are new."""
    done = candidate.check(baseline, "--fail-on", rule)

    assert done.returncode == 2
    assert "needs the runs of several releases" in done.stderr


def test_unknown_release_is_refused(candidate: Sample, baseline: Path) -> None:
    """No run is no pass."""
    done = candidate.check(baseline, candidate="1.2")

    assert done.returncode == 2
    assert "no run of release '1.2' has been scored" in done.stderr
