"""The decision on a release: one word by a rule, the same in every format."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.scoring.compare.test_decide import attempts
from tests.scoring.report.build import Tables, as_lake
from tests.scoring.report.test_hostile import HOSTILE, acting

from tracegrade.cli import main
from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.decision.decision import ReleaseDecision, decide_release
from tracegrade_scoring.compare.decision.release_rule import ShipRule, read_release_rule
from tracegrade_scoring.compare.decision.view import decision_view
from tracegrade_scoring.compare.html import render_html
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import RuledComparison, apply_rules
from tracegrade_scoring.compare.texts import render_decision, render_markdown
from tracegrade_scoring.errors import BadRule


def both(
    tables: Tables, before: dict[str, list[float]], after: dict[str, list[float]], tasks: int
) -> RuledComparison:
    """Insert equal attempts of so many tasks for each release, and compare them."""
    for release, values in (("1", before), ("2", after)):
        for task in range(tasks):
            attempts(tables, release, f"t{task}", **values)
    return compare(tables)


def compare(tables: Tables, **keys: object) -> RuledComparison:
    """Return releases 1 and 2 compared, by a rule with these keys."""
    return apply_rules(
        read_comparisons(tables.con, "lake", "1", "2"), [], ShipRule.model_validate(keys)
    )


def decision(ruled: RuledComparison) -> ReleaseDecision:
    """Return the only decision."""
    (comparison,) = ruled.comparisons.cohorts
    return decide_release(comparison, ruled.release_rule)


def verdicts(found: ReleaseDecision) -> list[str]:
    """Return what each check says."""
    return [check.verdict for check in found.checks]


def text(ruled: RuledComparison, width: int = 80) -> str:
    """Return what a terminal shows."""
    return render_decision(ruled, "tracegrade compare 1 2 --long", width=width, color=False)


def test_a_release_that_solves_as_much_may_ship(tables: Tables) -> None:
    """Ten tasks, all solved by both."""
    found = decision(both(tables, {"success": [1.0, 1.0]}, {"success": [1.0, 1.0]}, 10))
    assert found.word == "ship"
    assert set(verdicts(found)) == {"held"}
    assert found.better == found.worse == found.needed == ()


def test_a_release_that_solves_less_beyond_chance_is_held(tables: Tables) -> None:
    """Twelve tasks that are no longer solved; so few attempts of one task prove nothing of it."""
    found = decision(both(tables, {"success": [1.0]}, {"success": [0.0]}, 12))
    assert found.word == "hold"
    assert verdicts(found) == ["held", "broken", "held", "held"]
    assert found.worse == ("Success",)
    assert len(found.went_down) == 12
    assert found.went_down[0] == "t0 1/1 → 0/1"


def test_a_metric_that_got_worse_holds_a_release(tables: Tables) -> None:
    """Success is the same; picking tools is not, and what the two say is not one check."""
    before, after = {"success": [1.0], "tsa": [0.9]}, {"success": [1.0], "tsa": [0.4]}
    found = decision(both(tables, before, after, 12))
    assert (found.word, verdicts(found)) == ("hold", ["held", "held", "held", "broken"])
    assert found.worse == ("Tool-selection accuracy",)


def test_what_was_asked_is_what_may_be_worse(tables: Tables) -> None:
    """A metric without a good direction, success, and what runs use are not among it."""
    before = {"success": [1.0], "tsa": [0.9], "actual_steps": [3.0]}
    after = {"success": [1.0], "tsa": [0.4], "actual_steps": [9.0]}
    found = decision(both(tables, before, after, 12))
    assert found.checks[3].fact == "1 of 1 that were asked"


def test_attempts_that_are_counted_are_those_of_the_rate(tables: Tables) -> None:
    """A task whose success is known of one release is in neither number."""
    ruled = both(tables, {"success": [1.0, 0.0]}, {"success": [1.0, 1.0]}, 10)
    attempts(tables, "1", "alone", success=[1.0] * 5)
    run = tables.run("2", task_id="alone")
    tables.scored(run, "alone")
    tables.score(run, "success", None, reason="success_unknown")
    ruled = compare(tables)
    (comparison,) = ruled.comparisons.cohorts
    rows = decision_view(comparison, ruled.comparisons, ruled.release_rule).rows
    assert rows[0][:3] == ("Success", "10 of 20", "20 of 20")
    assert comparison.metrics["success"].found.base == 0.5


def test_a_task_that_surely_fell_holds_a_release(tables: Tables) -> None:
    """Eight attempts of it tell; it is named under what got worse."""
    for release in ("1", "2"):
        for task in range(12):
            share = 0.0 if release == "2" and task == 3 else 1.0
            attempts(tables, release, f"t{task}", success=[share] * 8)
    found = decision(compare(tables))
    assert verdicts(found)[2] == "broken"
    assert "t3 8/8 → 0/8" in found.worse
    assert verdicts(decision(compare(tables, tasks_worse=1)))[2] == "held"


def test_five_tasks_are_not_enough_whatever_they_say(tables: Tables) -> None:
    """All five went from unsolved to solved; it says how many tasks would tell."""
    found = decision(both(tables, {"success": [0.0] * 3}, {"success": [1.0] * 3}, 5))
    assert found.word == "not enough runs"
    assert found.needed == (
        "5 more tasks for the rule",
        "6 tasks in all to tell a change in success from chance",
    )
    assert len(found.went_up) == 5
    assert found.better == ()


def test_releases_without_a_task_in_common_are_not_enough(tables: Tables) -> None:
    """Nothing is paired, so no part of the rule can be decided."""
    attempts(tables, "1", "a", success=[1.0])
    attempts(tables, "2", "b", success=[1.0])
    found = decision(compare(tables))
    assert found.word == "not enough runs"
    assert "held" not in verdicts(found)


def test_kills_count_where_runs_were_killed(tables: Tables) -> None:
    """A release that is put right less often is held, though everything else is as before."""
    before = {"success": [1.0], "ra_after_recovery": [10.0]}
    after = {"success": [1.0], "ra_after_recovery": [0.0]}
    found = decision(both(tables, before, after, 12))
    assert found.checks[-1].text == "no kill score worse, beyond chance"
    assert (found.word, found.checks[-1].verdict) == ("hold", "broken")


def test_kills_of_few_tasks_that_fell_are_not_held_to_be_as_before(tables: Tables) -> None:
    """No test can tell; a score that did not fall leaves nothing open."""
    before = {"success": [1.0], "ra_after_recovery": [10.0]}
    after = {"success": [1.0], "ra_after_recovery": [5.0]}
    check = decision(both(tables, before, after, 2)).checks[-1]
    assert check[1:] == ("unknown", "10 to 5, too few tasks to tell")
    assert decision(compare(tables, kills_worse=1)).checks[-1].verdict == "held"


def test_kills_of_few_tasks_that_are_as_before_are_held(tables: Tables) -> None:
    """Two tasks suffice for that."""
    scores = {"success": [1.0], "ra_after_recovery": [10.0]}
    assert decision(both(tables, scores, scores, 2)).checks[-1].verdict == "held"


def test_cost_is_asked_only_by_a_rule_that_names_it(tables: Tables) -> None:
    """The cost is of a solved run; without costs it is unknown."""
    ruled = both(tables, {"success": [1.0]}, {"success": [1.0]}, 10)
    assert len(decision(ruled).checks) == 4
    found = decision(replace(ruled, release_rule=ShipRule(cost_per_solved="+20%")))
    assert (found.word, found.checks[-1].verdict) == ("not enough runs", "unknown")


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("[release]\nmin_task = 3\n", "min_task"),
        ("[release]\nmin_tasks = 0\n", "min_tasks"),
        ("[release]\nmin_tasks = true\n", "min_tasks"),
        ("[release]\nsolved_margin = nan\n", "solved_margin"),
        ('[release]\ncost_per_solved = "20"\n', "cost_per_solved"),
        ("min_tasks = 3\n", "no table [release]"),
        ("release = 3\n", "no table [release]"),
        ("[release\n", "cannot read the rule"),
        ("\x00", "cannot read the rule"),
    ],
)
def test_a_rule_that_makes_no_sense_is_named_in_one_line(
    tmp_path: Path, written: str, fault: str
) -> None:
    """With the file and the key."""
    file = tmp_path / "rule.toml"
    file.write_text(written)
    with pytest.raises(BadRule) as caught:
        read_release_rule(file)
    assert fault in str(caught.value)
    assert str(file) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_of_rules_gives_what_it_says_and_the_rest_by_default(tmp_path: Path) -> None:
    """A missing file is named; other tables are another tool's."""
    file = tmp_path / "rule.toml"
    file.write_text('[release]\nmin_tasks = 3\ncost_per_solved = "+7.5%"\n[other]\nx = 1\n')
    rule = read_release_rule(file)
    assert rule == ShipRule(min_tasks=3, cost_per_solved="+7.5%")
    assert rule.cost_limit == 1.075
    with pytest.raises(BadRule, match="No such file"):
        read_release_rule(tmp_path / "missing.toml")


def test_every_format_says_the_same_word_and_checks(tables: Tables) -> None:
    """What the JSON has stands in the page, in Markdown and on a terminal."""
    ruled = both(tables, {"success": [1.0], "tsa": [0.9]}, {"success": [0.0], "tsa": [0.4]}, 12)
    (cohort,) = json.loads(render_json(ruled))["comparisons"]
    html = re.sub(r"</?span[^>]*>", "", render_html(ruled))
    pages = [" ".join(page.split()) for page in (text(ruled, 300), html)]
    markdown = render_markdown(ruled)
    assert f"2: {cohort['decision']['word']}." in markdown
    for check in cohort["decision"]["checks"]:
        line = f"{check['text']}: {check['fact']}"
        assert all(line in page for page in (*pages, markdown))
    for page in pages:
        assert f"2: {cohort['decision']['word']}." in page


@pytest.mark.parametrize("screen_width", [40, 80, 100, 200])
def test_it_has_25_lines_of_80_columns_on_any_screen(tables: Tables, screen_width: int) -> None:
    """Long names are cut, and their control characters do not reach a terminal."""
    for release in ("1", "2"):
        for task in range(40):
            name = f"{HOSTILE[task % len(HOSTILE)]}{task}{'x' * 90}"
            values = [float(release == "1" or task % 3 == 0)]
            attempts(tables, release, name, success=values, tsa=values, ra_after_recovery=values)
    lines = text(compare(tables), screen_width).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert not acting("\n".join(lines))


def test_the_command_decides_by_the_rule_of_a_file(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three tasks suffice by it; `--long` shows every score, `--fail-on decision` stops."""
    both(tables, {"success": [1.0]}, {"success": [1.0]}, 7)
    lake = as_lake(tables, tmp_path / "lake").root
    rule = tmp_path / "rule.toml"
    rule.write_text("[release]\nmin_tasks = 3\n")

    def run(*options: str | Path) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as exit_:
            main(["compare", "1", "2", "--lake", str(lake), *map(str, options)])
        return exit_.value.code, *capsys.readouterr()

    code, out, err = run("--fail-on", "decision")
    assert (code, out.startswith("2: not enough runs.")) == (1, True)
    assert "at least 10 tasks both ran: 7" in err
    code, out, _ = run("--fail-on", "decision", "--release-rule", rule)
    assert (code, out.startswith("2: ship.")) == (0, True)
    assert "Scores on the 7 tasks that both ran" not in out
    assert "Scores on the 7 tasks that both ran" in run("--long")[1]
