"""Where judges decide, a comparison goes by what people would say, or tells why it does not."""

import datetime
import json
import re
import shutil
from collections.abc import Iterable
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.explorer.lakes import client, explorer
from tests.judges.calibration import plain
from tests.scoring.report.build import Tables, as_lake

from tracegrade.cli import main
from tracegrade_lake import Lake
from tracegrade_scoring.calibrations import (
    CORRECTED_RATES,
    VERDICT_CALIBRATIONS,
    put_source_rows,
)
from tracegrade_scoring.compare.corrected_rates import (
    JudgedSide,
    JudgedTask,
    corrected_difference,
    corrected_success,
)
from tracegrade_scoring.compare.lake import ReleaseSelection, read_comparison
from tracegrade_scoring.compare.rule_outcomes import RuledComparison
from tracegrade_scoring.rendering.formats import render

JUDGE = "judge:nodes"
NOW = {"source": JUDGE, "calibrated_at": datetime.datetime(2026, 11, 24)}  # noqa: DTZ001
LABELS = {"both_yes": 60, "only_source_yes": 8, "only_people_yes": 6, "both_no": 46}
OF_YES, OF_NO = 60.5 / 69, 6.5 / 53
"""How likely people say yes where the judge says yes, and where it says no."""
TRUE_YES, FALSE_YES = 60.5 / 67, 8.5 / 55
"""How often the judge says yes where people do, and where they say no."""
HALF = (0.5 - FALSE_YES) / (TRUE_YES - FALSE_YES)
"""What people would say yes to where the judge says yes to a half."""
FORMS = ("terminal", "html", "markdown")


def rate(release: str, judged_yes: int, **changed: Any) -> dict[str, Any]:
    """Return what a judge says of 200 runs of a release, and what people would."""
    share = (judged_yes + 0.5) / 201
    corrected = share * OF_YES + (1 - share) * OF_NO
    row = {
        **NOW,
        **{"subject": "success", "agent_name": "files", "release": release},
        **{"judged": 200, "judged_yes": judged_yes, "judged_rate": judged_yes / 200},
        **{"corrected_rate": corrected, "calibrated": True},
    }
    return row | changed


def judge_run(
    tables: Tables, release: str, task: str | None, value: float, source: str = JUDGE, **run: Any
) -> str:
    """Insert a run on whose success a source of verdicts decides, and return its id."""
    found = tables.run(release, task_id=task, **run)
    tables.scored(found, task)
    by = "judge" if source.startswith("judge:") else "verifier"
    tables.score(found, "success", value, numerator=value, denominator=1.0, source=by)
    tables.insert("verdicts", trajectory_id=found, subject="success", value=value,
                  label="yes" if value else "no", source=source)  # fmt: skip
    return found


def judged_tasks(tables: Tables) -> None:
    """Insert two releases on twelve tasks: the judge says yes to 6 and to all of them."""
    for release in "12":
        for place in range(12):
            judge_run(tables, release, f"t{place:02}", float(release == "2" or place > 5))


@pytest.fixture(scope="module")
def outcomes_of(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Two releases on twelve tasks, on whose success a judge decides; tests take a copy of it."""
    with closing(Tables()) as tables:
        judged_tasks(tables)
        return as_lake(tables, tmp_path_factory.mktemp("judged") / "lake")


@pytest.fixture
def lake(outcomes_of: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake of one's own."""
    return Lake.open(shutil.copytree(outcomes_of.root, tmp_path / "lake"))


def measured(
    lake: Lake, *rates: dict[str, Any], calibrated: bool = True, labels: dict[str, int] = LABELS
) -> None:
    """Let a lake hold the judge's calibration and these rates."""
    calibration = {**NOW, **labels, "labels": sum(labels.values()), "calibrated": calibrated}
    put_source_rows(lake, VERDICT_CALIBRATIONS, JUDGE, [calibration])
    put_source_rows(lake, CORRECTED_RATES, JUDGE, rates)


def of_both(lake: Lake, labels: dict[str, int] = LABELS) -> None:
    """Let a lake hold corrected rates of both releases."""
    measured(lake, rate("1", 100), rate("2", 140), labels=labels)


def compared(
    lake: Lake, form: str, capsys: pytest.CaptureFixture[str], *options: str, ends: int = 0
) -> str:
    """Return what `compare` prints, blanks as one."""
    command = ["compare", "1", "2", "--lake", str(lake.root), "--format", form, *options]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == ends
    return words(capsys.readouterr().out)


def words(text: str) -> str:
    """Return a text as people read it, blanks as one."""
    return " ".join(unescape(text).replace("\\", "").split())


def judged_now(lake: Lake) -> RuledComparison:
    """Return the comparison of both releases, which every format is written from."""
    return read_comparison(lake.root, str, ReleaseSelection("1", "2"))


def written(ruled: RuledComparison, form: str) -> str:
    """Return a comparison in a format, as `compare` writes it into a file."""
    return render(ruled, "tracegrade_scoring.compare", form, Path("out"))


def cohort(lake: Lake, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """Return the only cohort."""
    (found,) = json.loads(compared(lake, "json", capsys, *options))["comparisons"]
    return dict(found)


def test_success_is_what_people_would_say(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    """Value, interval and verdict are corrected; what the judge says stands beside them."""
    of_both(lake)

    found = cohort(lake, capsys)
    success, (told,) = found["metrics"]["success"], found["judged"]
    assert (success["base"], success["candidate"]) == pytest.approx((HALF, 1.0), abs=1e-12)
    assert (success["as_judged"]["base"], success["as_judged"]["candidate"]) == (0.5, 1.0)
    assert success["flags"] == ["corrected"]
    assert (success["interval_method"], success["p_method"]) == ("corrected_bootstrap",) * 2
    assert (told["source"], told["subject"], told["uncorrected"]) == (JUDGE, "success", None)
    assert told["corrected"]["low"] == success["low"] > 0
    assert (told["corrected"]["base_judged"], told["corrected"]["candidate_judged"]) == (12, 12)
    assert "as_judged" in found["metrics"]["pass@1"]
    assert found["metrics"]["pass@1"]["as_judged"] is None
    narrow = cohort(lake, capsys, "--level", "0.5")["metrics"]["success"]
    assert success["low"] < narrow["low"] < narrow["high"] < success["high"]


def test_pages_say_that_success_is_corrected(lake: Lake) -> None:
    """In a sentence, in the row, and with what the judge says as it is."""
    of_both(lake)
    ruled = judged_now(lake)

    for form in FORMS:
        text = words(written(ruled, form))
        assert ("2 is better than 1: Success, corrected." in text) == (form != "html")
        assert f"Success is corrected for what judge '{JUDGE}' gets wrong." in text
        assert re.search(r"Success, corrected\W.{0,120}?46\.2%.{0,120}?100\.0%", text)
        assert "12 and 12 verdicts on the compared attempts; as judged 50.0% to 100.0%" in text
        assert "pass@1" not in text.replace("pass@k", "").split("Only success")[0]
        assert "not corrected:" not in text


def test_a_change_that_labels_cannot_tell_is_none(lake: Lake) -> None:
    """Surely better as judged; not, where labels hardly tell the judge's yes from its no."""
    of_both(lake, {"both_yes": 14, "only_source_yes": 12, "only_people_yes": 11, "both_no": 13})

    ruled = judged_now(lake)
    (found,) = json.loads(written(ruled, "json"))["comparisons"]
    success = found["metrics"]["success"]
    assert success["low"] < 0 < success["as_judged"]["low"]
    text = words(written(ruled, "terminal"))
    assert "Nothing changed between 1 and 2 beyond chance" in text
    assert f"Success is corrected for what judge '{JUDGE}' gets wrong." in text


def test_rules_go_by_what_people_would_say(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    """A bound that the judge's own rate keeps is broken by the corrected one."""
    rule = ("--fail-on", "success.base<0.48")
    compared(lake, "json", capsys, *rule)

    of_both(lake)
    found = json.loads(compared(lake, "json", capsys, *rule, ends=1))["comparisons"][0]["rules"]
    assert [each["verdict"] for each in found] == ["broken"]
    assert found[0]["fact"].startswith("base of success, corrected, is 0.46")


@pytest.mark.slow
def test_reports_and_pages_answer_alike(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    """A report's sentence is that of the comparison; the explorer says what limits it."""
    of_both(lake)
    with pytest.raises(SystemExit):
        main(["report", "--lake", str(lake.root), "--format", "json"])
    (told,) = json.loads(capsys.readouterr().out)["comparisons"]
    with closing(explorer(lake)) as pages, closing(pages.latest):
        page = unescape(client(pages).get("/releases?base=1&candidate=2").text)

    ruled = judged_now(lake)
    (found,) = json.loads(written(ruled, "json"))["comparisons"]
    assert told["answer"] in words(written(ruled, "terminal"))
    limits = f"Success is corrected for what judge '{JUDGE}' gets wrong."
    assert told["answer"].endswith(limits)
    assert told["metrics"]["success"] == found["metrics"]["success"]
    assert limits in page
    assert page.count('class="verdict"') == 1


@pytest.mark.parametrize(
    ("rates", "calibrated", "code", "sentence"),
    [
        ([rate("1", 100)], True, "no_candidate_rate", "has a corrected rate of 1, but none of 2"),
        ([rate("2", 100)], True, "no_base_rate", "has a corrected rate of 2, but none of 1"),
        ([rate("1", 100), rate("2", 140)], False, "uncalibrated", "is not calibrated"),
        ([rate("1", 9, subject="sub_goal")], True, "no_rates", "of neither release"),
    ],
)
def test_nothing_is_mixed(
    lake: Lake,
    rates: list[dict[str, Any]],
    calibrated: bool,
    code: str,
    sentence: str,
) -> None:
    """With a rate of one side, or labels that are not enough, a page says so and corrects none."""
    measured(lake, *rates, calibrated=calibrated)

    not_corrected(lake, code, sentence)


def not_corrected(lake: Lake, code: str, sentence: str) -> None:
    """Check that success is as judged, and that every format says why."""
    ruled = judged_now(lake)
    (found,) = json.loads(written(ruled, "json"))["comparisons"]
    assert {each["source"]: each["uncorrected"] for each in found["judged"]}[JUDGE] == code
    assert {each["corrected"] for each in found["judged"]} == {None}
    assert found["metrics"]["success"]["as_judged"] is None
    assert found["metrics"]["success"]["base"] == 0.5
    for form in FORMS:
        text = words(written(ruled, form))
        assert f"Success as judged, not corrected: judge '{JUDGE}'" in text
        assert sentence in text
        assert "corrected for what" not in text


def test_judge_that_nobody_measured_is_told(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any label there is neither table."""
    (found,) = cohort(lake, capsys)["judged"]

    assert found["uncorrected"] == "uncalibrated"


@pytest.mark.slow
def test_of_several_judges_none_is_corrected(tables: Tables, tmp_path: Path) -> None:
    """Nobody knows what two of them together get wrong."""
    judged_tasks(tables)
    for release in "12":
        judge_run(tables, release, "u", float(release == "2"), source="judge:other")
        judge_run(tables, release, "u", float(release == "1"))
    lake = as_lake(tables, tmp_path / "lake")
    of_both(lake)

    not_corrected(lake, "several_judges", "is not the only one that decides on it")


@pytest.mark.slow
def test_attempts_of_several_runs_are_not_corrected(tables: Tables, tmp_path: Path) -> None:
    """People label single runs: how they would see a conversation of two is not known."""
    judged_tasks(tables)
    for release in "12":
        for value in (1.0, float(release == "2")):
            judge_run(tables, release, "u", value, conversation_id=release)
    judge_run(tables, "1", "u", 1.0)
    lake = as_lake(tables, tmp_path / "lake")
    of_both(lake)

    not_corrected(lake, "several_runs", "judges single runs, and attempts have several")


@pytest.mark.slow
def test_runs_of_no_task_are_not_corrected(tables: Tables, tmp_path: Path) -> None:
    """They are compared as two independent samples, by the verdicts as they are."""
    for release in "12":
        for place in range(12):
            judge_run(tables, release, None, float(release == "2" or place > 5))
    lake = as_lake(tables, tmp_path / "lake")
    of_both(lake)

    not_corrected(lake, "unpaired", "judges runs without a task in common")


def test_what_others_decide_counts_as_it_is(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person's word, also on a run of the sample, is what people say."""
    judged_tasks(tables)
    for release in "12":
        for place in range(12):
            judge_run(tables, release, f"t{place:02}", 1.0, source="human:ann")
    lake = as_lake(tables, tmp_path / "lake")
    of_both(lake)

    found = cohort(lake, capsys)["metrics"]["success"]
    assert found["base"] == pytest.approx((1 + HALF) / 2, abs=1e-12)
    assert found["candidate"] == 1.0


def test_sub_goals_are_told_beside(tables: Tables, tmp_path: Path) -> None:
    """Their corrected rates are over all that was judged; their scores stay as judged."""
    for release in "12":
        run = tables.run(release, task_id="t")
        tables.scored(run, "t")
        tables.score(run, "sub_goal_completion", 1.0, numerator=1.0, denominator=1.0)
        tables.insert("sub_goals", trajectory_id=run, sub_goal="pay", critical=False, weight=1.0,
                      attempted=True, completed=True, completion_source="judge", task_id="t",
                      release=release)  # fmt: skip
        tables.insert("verdicts", trajectory_id=run, subject="sub_goal", sub_goal="pay",
                      value=1.0, label="yes", source=JUDGE)  # fmt: skip
    lake = as_lake(tables, tmp_path / "lake")
    of = {"subject": "sub_goal"}
    measured(lake, rate("1", 100, **of), rate("2", 140, **of), rate("2", 10, agent_name="other"))

    ruled = judged_now(lake)
    (found,) = json.loads(written(ruled, "json"))["comparisons"]
    (told,) = found["judged"]
    assert (told["corrected"]["base"], told["corrected"]["candidate"]) == (
        *(rate(release, yes)["corrected_rate"] for release, yes in (("1", 100), ("2", 140))),
    )
    assert found["metrics"]["sub_goal_completion"]["as_judged"] is None
    for form in FORMS:
        text = words(written(ruled, form))
        assert f"corrected for what judge '{JUDGE}' gets wrong: 50.0% to 65.0% (+15.0 pts" in text
        assert "better), over all 200 and 200 verdicts on these releases" in text


def test_two_releases_that_share_labels_are_as_far_apart_as_they_are() -> None:
    """People say yes to 50 and 60 of 100; the judge to 80 % of what they do, and 30 % of the rest.

    What its yes is worth differs between the two, so labels of both together cannot say it.
    """
    outcomes_of = [(550, 450), (600, 400)]
    sides = [JudgedSide(1_000, yes, yes, no) for yes, no in outcomes_of]
    labels = dict(zip(LABELS, (440, 135, 110, 315), strict=True))

    found = corrected_success([JudgedTask(*sides)], labels)

    assert (found.base, found.candidate) == pytest.approx((0.5, 0.6), abs=3e-3)


COUNT = st.integers(0, 6)
SIDE = st.tuples(COUNT, COUNT, COUNT, COUNT).filter(any)
"""Judged yes, judged no, and by others yes and no."""
LABELED = st.tuples(*[st.integers(0, 80)] * 4).filter(lambda found: _told_apart(found) > 0.1)


def _told_apart(labels: tuple[int, ...]) -> float:
    """Return how much more often a judge says yes where people do."""
    both_yes, only_source, only_people, both_no = labels
    return (both_yes + 0.5) / (both_yes + only_people + 1) - (
        (only_source + 0.5) / (only_source + both_no + 1)
    )


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=8), LABELED)
def test_corrected_success_is_as_defined(
    tasks: list[tuple[tuple[int, ...], tuple[int, ...]]], labels: tuple[int, ...]
) -> None:
    """Values and both ends of the interval, one resample after the other, to 1e-12."""
    given_labels = dict(zip(LABELS, labels, strict=True))

    found = corrected_success(
        [JudgedTask(*(_side(*side) for side in task)) for task in tasks], given_labels
    )

    expected = plain_success(tasks, labels)
    assert (found.base, found.candidate) == pytest.approx(expected[:2], abs=1e-12)
    assert (found.low, found.high) == (
        pytest.approx(expected[2:], abs=1e-12) if len(tasks) >= 5 else (None, None)
    )


def _side(judged_yes: int, judged_no: int, yes: int, no: int) -> JudgedSide:
    return JudgedSide(judged_yes + judged_no + yes + no, judged_yes + yes, judged_yes, judged_no)


def plain_success(
    tasks: list[tuple[tuple[int, ...], tuple[int, ...]]], labels: tuple[int, ...]
) -> tuple[float, ...]:
    """Return success of both sides as people would see it, and the interval of its difference."""
    both_yes, only_source, only_people, both_no = labels
    counts = [(both_yes, only_people), (only_source, both_no)]
    means = [(yes + 0.5) / (yes + no + 1) for yes, no in counts]
    numbers = np.random.PCG64(0).random_raw(2_000 * len(tasks)).tolist()
    drawn = list(zip(*plain.draws(counts), strict=True))
    differences = []
    for i in range(2_000):
        picked = [tasks[n % len(tasks)] for n in numbers[i * len(tasks) : (i + 1) * len(tasks)]]
        old, new = (_plain_rate([task[side] for task in picked], *drawn[i]) for side in (0, 1))
        differences.append(new - old)
    ends = (plain.percentile(sorted(differences), share) for share in (0.025, 0.975))
    old, new = (_plain_rate([task[side] for task in tasks], *means) for side in (0, 1))
    return old, new, *ends


def _plain_rate(sides: Iterable[tuple[int, ...]], true_yes: float, false_yes: float) -> float:
    given = list(sides)
    said_yes, said_no = (sum(side[i] for side in given) for i in (0, 1))
    people = (said_yes - (said_yes + said_no) * false_yes) / (true_yes - false_yes)
    others = sum(side[2] for side in given)
    return min(1.0, max(0.0, (others + people) / sum(map(sum, given))))


def test_interval_shares_the_labels_of_both_sides() -> None:
    """It is that of plain draws, and narrower than if either side had labels of its own."""
    draws = np.random.Generator(np.random.PCG64(1))
    counts = [(100, 100), (140, 60), (60, 8), (6, 46)]
    base, candidate, right, missed = (
        draws.beta(yes + 0.5, no + 0.5, 400_000) for yes, no in counts
    )
    expected = np.quantile((candidate - base) * (right - missed), [0.025, 0.975])

    found = corrected_difference(rate("1", 100), rate("2", 140), LABELS)

    low, high = found.found.low, found.found.high
    assert low is not None
    assert high is not None
    assert (low, high) == pytest.approx(tuple(expected), abs=4e-3)
    again, by_itself = draws.beta(60.5, 8.5, 400_000), draws.beta(6.5, 46.5, 400_000)
    apart = candidate * right + (1 - candidate) * missed - base * again - (1 - base) * by_itself
    ends = np.quantile(apart, [0.025, 0.975])
    assert high - low < ends[1] - ends[0]
