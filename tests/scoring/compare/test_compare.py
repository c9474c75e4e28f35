"""`tracegrade compare`: what changed between two releases, in every format, and its exit codes."""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.scoring.report.build import Tables, as_lake

from tracegrade.cli import main
from tracegrade_scoring.compare.as_csv import render_csv
from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.judgement import judge
from tracegrade_scoring.compare.markdown import render_markdown
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rules import parse_rules
from tracegrade_scoring.compare.terminal import render_terminal
from tracegrade_scoring.compare.view import cohort_view
from tracegrade_scoring.errors import BadRule, NothingToCompare
from tracegrade_scoring.sql import QUERIES, query

COMPARING = [QUERIES.paths[name] for name in QUERIES.in_folder("compare")]


@pytest.fixture(scope="module")
def found(compared: Tables) -> Comparisons:
    """Release 1.1 beside 1.0."""
    return read_comparisons(compared.con, "lake", "1.0", "1.1")


@pytest.fixture(scope="module")
def files(found: Comparisons) -> Comparison:
    """The only agent."""
    (comparison,) = found.cohorts
    return comparison


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize("path", COMPARING, ids=lambda path: path.stem)
def test_header_is_true(compared: Tables, path: Path) -> None:
    """It names the columns with their types, the parameters that are used, and what is read."""
    sql = path.read_text()
    said, used = header(sql), parameters_used(sql)
    known = {"base": "1.0", "candidate": "1.1", "means": ["pq"]}
    given = {name[1:]: known[name[1:]] for name in used}
    result = compared.con.sql(bare(sql), params=given or None)

    assert said.columns == columns_of(result)
    assert said.parameters == used
    assert said.reads == relations_read(sql)


def test_only_tasks_that_both_ran_are_compared(files: Comparison) -> None:
    """Six tasks are; one of either side and a run of no task are counted and left out."""
    cohort = files.cohort

    assert (cohort.tasks, cohort.base_only_tasks, cohort.candidate_only_tasks) == (6, 1, 1)
    assert (cohort.base_runs, cohort.candidate_runs, cohort.candidate_runs_of_no_task) == (
        *(13, 14, 1),
    )
    assert files.metrics["tsa"].found.tasks == 6


def test_rates_are_pooled_over_the_tasks(files: Comparison) -> None:
    """Σ numerators / Σ denominators on either side: 90 and 104 of 120 first picks."""
    tsa = files.metrics["tsa"].found

    assert (tsa.base, tsa.candidate) == (90 / 120, 104 / 120)
    assert tsa.difference == pytest.approx(14 / 120)
    assert tsa.low is not None
    assert 0 < tsa.low < 14 / 120


def test_success_counts_attempts(files: Comparison) -> None:
    """8 of 12 attempts before, 9 of 12 after; tasks have two attempts, so no McNemar."""
    success = files.metrics["success"].found

    assert (success.base, success.candidate) == (8 / 12, 9 / 12)
    assert success.p_method == "paired_bootstrap"


def test_reliability_is_the_mean_of_tasks(files: Comparison) -> None:
    """pass^2: 3 of 6 tasks succeed twice before, 4 after; pass@2: 5 and 5 at least once."""
    assert (files.metrics["pass^2"].found.base, files.metrics["pass^2"].found.candidate) == (
        *(3 / 6, 4 / 6),
    )
    assert (files.metrics["pass@2"].found.base, files.metrics["pass@2"].found.candidate) == (
        *(5 / 6, 5 / 6),
    )


def test_pass_at_4_is_enough_for_a_first_look(tables: Tables) -> None:
    """Six attempts: up to k = 4 before all else, the rest after it; programs get all of them."""
    for release, gain in (("1", 0), ("2", 1)):
        for place in range(12):
            run_id = tables.run(release, task_id=f"t{place % 2}", trial=place // 2)
            tables.scored(run_id, f"t{place % 2}")
            success = float(place // 2 < 2 + gain + place % 2)
            tables.score(run_id, "success", success, numerator=success, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")
    view = cohort_view(found.cohorts[0], found)

    passes = [f"pass{kind}{k}" for k in range(2, 7) for kind in "@^"]
    assert [row.label for row in view.rows if row.label.startswith("pass")] == passes[:6]
    assert [row.label for row in view.more_rows] == passes[6:]
    assert set(passes) < set(found.cohorts[0].metrics)


def test_new_failure_mode_is_named_with_its_run(files: Comparison) -> None:
    """A mode that the base never showed, with the first run and span of the candidate."""
    (mode,) = files.failure_modes

    assert (mode.mode, mode.is_new, mode.rose) == ("loop_trap", True, True)
    assert mode.compared.found.candidate == 2 / 12
    assert mode.span_id == f"s{mode.trajectory_id}"


def untold(tables: Tables, release: str, outcomes: str, mode: str | None = None) -> None:
    """Insert a run without a task for each outcome: 1, 0 or - for unknown."""
    for outcome in outcomes:
        run_id = tables.run(release, run_mode=mode, step_count=10)
        tables.scored(run_id, None)
        value = None if outcome == "-" else float(outcome)
        facts = {} if value is None else {"numerator": value, "denominator": 1.0}
        tables.score(run_id, "success", value, **facts)
        tables.score(run_id, "loop_trap", 0.0, numerator=0.0, denominator=1.0)
        points = {"numerator": 2.0 + float(outcome == "1"), "denominator": 4.0}
        tables.score(run_id, "parameter_validity", points["numerator"] / 4, **points)


def test_runs_of_no_task_are_compared_unpaired(tables: Tables) -> None:
    """Shares by Newcombe's interval, ratios by the delta method, and every page says so."""
    untold(tables, "1", "1" * 12 + "0" * 12 + "-")
    untold(tables, "2", "1" * 23 + "0")
    found = read_comparisons(tables.con, "lake", "1", "2")
    (comparison,) = found.cohorts
    success, valid = (comparison.metrics[m] for m in ("success", "parameter_validity"))

    assert (success.found.base, success.found.candidate) == (12 / 24, 23 / 24)
    assert (success.base_scored, success.base_runs, success.flags) == (24, 25, ("unpaired",))
    assert success.found.interval_method == "newcombe"
    assert success.direction == 1
    assert valid.found.interval_method == "delta"
    assert valid.found.difference == pytest.approx((2 * 24 + 23) / 96 - (2 * 25 + 12) / 100)
    text = render_terminal(judge(found, []), width=200, colour=False)
    assert "No task is known that both ran, so runs are not paired" in text
    assert "Scores of 25 and 24 runs without a task, not paired" in text
    outcomes = judge(found, parse_rules(["success.low<0", "tsa<0"])).outcomes[0]
    assert [each.verdict for each in outcomes] == ["held", "unjudged"]


def test_t_score_needs_no_pairs(tables: Tables) -> None:
    """Pooled picks, mean rollback-ability, planning by default; else the page says why not."""
    for release, gain in (("1", 0.0), ("2", 1.0)):
        for place in range(6):
            run_id = tables.run(release)
            tables.scored(run_id, None)
            right = 2.0 + gain + place % 2
            tables.score(run_id, "tsa", right / 4, numerator=right, denominator=4.0)
            tables.score(run_id, "ra_after_recovery", 6.0 + gain + place % 3)
            tables.score(run_id, "pq", None, reason="no_required_steps")
    found = read_comparisons(tables.con, "lake", "1", "2")
    (comparison,) = found.cohorts
    compared = comparison.metrics["t_score"]

    assert compared.found.base == pytest.approx(3 / (1.2 / 6.25 + 1.0 / 10 + 0.8 / 7))
    assert compared.found.candidate == pytest.approx(3 / (1.2 / 8.75 + 1.0 / 10 + 0.8 / 8))
    assert compared.found.interval_method == "delta"
    assert compared.direction == 1
    text = render_terminal(judge(found, []), width=200, colour=False)
    assert "planning quality counts as 10 in the T-Score" in text
    tables.con.execute("UPDATE trajectory_scores SET ra_after_recovery = NULL")
    without = read_comparisons(tables.con, "lake", "1", "2")
    assert "t_score" not in without.cohorts[0].metrics
    page = render_terminal(judge(without, []), width=200, colour=False)
    assert "No T-Score: not measured in both releases: rollback-ability." in page


@pytest.mark.parametrize(
    ("status", "score"), [("not_applicable", 3 / (0.2 + 0.1 + 0.125)), ("error", None)]
)
def test_planning_that_no_task_asks_for_counts_as_10_in_pairs_too(
    tables: Tables, status: str, score: float | None
) -> None:
    """As in a report; not where a run's planning could not be measured."""
    for release in ("1", "2"):
        run_id = tables.run(release, task_id="a")
        tables.scored(run_id, "a")
        tables.score(run_id, "tsa", 0.6, numerator=6.0, denominator=10.0)
        tables.score(run_id, "ra_after_recovery", 6.4)
        tables.score(run_id, "pq", None, status=status)
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts

    compared = comparison.metrics.get("t_score")
    assert (compared and compared.found.base) == (score and pytest.approx(score))
    assert comparison.missing_axes == (() if score else ("pq",))


def test_conversation_is_one_attempt_without_pairs_too(tables: Tables) -> None:
    """It succeeded if each turn did; what one turn does not say is not known of it."""
    for release in ("1", "2"):
        for turns in ((1.0, 1.0), (1.0, 0.0), (1.0, None)):
            for turn in turns:
                run_id = tables.run(release, conversation_id=f"{release}{turns}")
                tables.scored(run_id, None)
                facts = {} if turn is None else {"numerator": turn, "denominator": 1.0}
                tables.score(run_id, "success", turn, **facts)
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts

    assert comparison.metrics["success"].found.base == 1 / 2
    assert comparison.metrics["success"].found.low is None


def test_superseded_run_is_counted_and_nothing_else(tables: Tables) -> None:
    """Only the later of two runs of a trial has scores and costs in a comparison."""
    for release, outcomes in (("1", (0.0, 1.0)), ("2", (1.0,))):
        for steps, outcome in enumerate(outcomes, start=1):
            run_id = tables.run(release, task_id="a", trial=1, step_count=10 * steps)
            tables.scored(run_id, "a")
            tables.score(run_id, "loop_trap", outcome, numerator=outcome, denominator=1.0)
            tables.score(run_id, "success", outcome, numerator=outcome, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")
    (comparison,) = found.cohorts

    assert (comparison.cohort.base_runs, comparison.cohort.base_superseded) == (1, 1)
    metrics = ("success", "loop_trap", "steps_per_run")
    assert [comparison.metrics[name].found.base for name in metrics] == [1, 1, 20]
    assert "same trial, 1 (1) and 0 (2)" in render_markdown(judge(found, [])).replace("\\", "")


def test_optimum_is_observed_over_the_compared_releases_alone(tables: Tables) -> None:
    """A run of a third release that needed fewer steps says nothing here."""
    for release, steps in (("1", 4), ("1", 8), ("2", 4), ("2", 4), ("3", 1), ("3", 1), ("3", 1)):
        run_id = tables.run(release, task_id="a")
        tables.scored(run_id, "a")
        tables.score(run_id, "success", 1.0, numerator=1.0, denominator=1.0)
        tables.score(run_id, "actual_steps", float(steps), numerator=float(steps))
        tables.score(run_id, "step_efficiency", None, reason="no_optimum")
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts
    found = comparison.metrics["step_efficiency"].found

    assert (found.base, found.candidate) == (8 / 12, 1.0)


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_level_of_intervals_is_as_asked(compared: Tables, level: float) -> None:
    """A higher level, a wider interval; headings and JSON name it."""
    found = read_comparisons(compared.con, "lake", "1.0", "1.1", level=level)
    usual = read_comparisons(compared.con, "lake", "1.0", "1.1")
    ours, theirs = (each.cohorts[0].metrics["tsa"].found for each in (found, usual))
    judgement = judge(found, [])

    assert ours.low is not None
    assert theirs.low is not None
    assert (ours.low < theirs.low) == (level > 0.95)
    assert f"{level * 100:g}% interval" in render_terminal(judgement, width=200, colour=False)
    assert json.loads(render_json(judgement))["level"] == level


def test_trade_off_and_opposite_ranks_are_named(files: Comparison) -> None:
    """Tools better, plans worse; on one task success fell while more sub-goals were reached."""
    assert files.trade_off == "tsa_up_pq_down"
    assert [task.task_id for task in files.tasks if task.ranked_oppositely] == ["t4"]
    assert not files.ranked_oppositely


def test_usage_and_categories_are_compared(files: Comparison) -> None:
    """Tokens and steps for each run; success for each category of tasks."""
    assert files.metrics["tokens_per_run"].found.difference == 20.0
    assert files.metrics["steps_per_run"].found.difference == 5.0
    assert "cost_usd_per_run" not in files.metrics
    assert [(row.category, row.found.base, row.found.candidate) for row in files.categories] == [
        ("even", 4 / 6, 3 / 6),
        ("odd", 4 / 6, 1.0),
    ]


def test_every_format_says_the_same(found: Comparisons) -> None:
    """The answer, a difference, its interval, the new mode and the caution about few samples."""
    judgement = judge(found, parse_rules(["tsa<-0.02"]))
    texts = (
        render_terminal(judgement, width=200, colour=False),
        render_markdown(judgement).replace("\\", ""),
    )

    for text in texts:
        for fact in (
            "As far as small samples can show, 1.1 is better than 1.0 in some ways and worse in",
            "+11.7 pts",
            "New failure mode: loop trap, in 16.7% of runs",
            "Trade-off: 1.1 picks tools better but plans worse",
            "Small samples",
            "1 task that only 1.0 ran",
            "runs without a known task, 0 of 13 (1.0) and 1 of 14 (1.1)",
            "sub-goal completion says the opposite",
            "held",
        ):
            assert fact in text


@pytest.mark.parametrize("name", ["1.1", "2f6f0d7e1e5b4d0e9a1c77c1b2d3e4f5a6b7c8d9"])
@pytest.mark.parametrize("width", [50, 80, 200])
def test_run_ids_and_numbers_are_whole_at_any_width(
    found: Comparisons, width: int, name: str
) -> None:
    """What somebody copies stands on one line, whatever the releases are called."""
    (mode,) = found.cohorts[0].failure_modes
    shown = replace(
        found.cohorts[0], failure_modes=(mode._replace(trajectory_id="f392c0cd4a41170a"),)
    )
    judgement = judge(replace(found, base=name, candidate=name, cohorts=(shown,)), [])
    text = render_terminal(judgement, width=width, colour=False)

    assert max(map(len, text.splitlines())) <= max(width, 76)
    assert re.search(r"\ne\.g\. f392c0cd4a41\s", text)
    view = cohort_view(shown, found)
    for row in view.rows:
        numbers = re.escape(" ".join(row[1:5]).rstrip()).replace(r"\ ", " +")
        assert re.search(rf"{numbers}( |\n)", text), row


def test_interval_without_width_is_no_certainty(tables: Tables) -> None:
    """Every task rose by the same: pages say `no interval`, programs get the ends and a flag."""
    for side, release in enumerate("12"):
        for place in range(6):
            run_id = tables.run(release, task_id=f"t{place}")
            tables.scored(run_id, f"t{place}")
            tables.score(run_id, "tsa", 0.5 + side / 4, numerator=2.0 + side, denominator=4.0)
    judgement = judge(read_comparisons(tables.con, "lake", "1", "2"), [])
    tsa = json.loads(render_json(judgement))["comparisons"][0]["metrics"]["tsa"]

    assert (tsa["low"], tsa["high"]) == (0.25, 0.25)
    assert "no_spread" in tsa["flags"]
    for page in (render_terminal(judgement, width=200, colour=False), render_markdown(judgement)):
        assert "no interval" in page
        assert "all tasks changed by the same amount" in page


def test_metric_without_a_task_in_common_is_named(tables: Tables) -> None:
    """A value on either side, of different tasks, is no pair; a page says so, and nothing more."""
    for release, failing in (("1", "a"), ("2", "b")):
        for task in "ab":
            run_id = tables.run(release, task_id=task)
            tables.scored(run_id, task)
            tables.score(run_id, "success", 1.0, numerator=1.0, denominator=1.0)
            found = {"numerator": 1.0, "denominator": 2.0} if task == failing else {}
            tables.score(run_id, "recovery_rate", 0.5 if found else None, **found)
    judgement = judge(read_comparisons(tables.con, "lake", "1", "2"), [])

    assert json.loads(render_json(judgement))["comparisons"][0]["unmatched"] == ["recovery_rate"]
    text = render_terminal(judgement, width=200, colour=False)
    assert "Measured in both releases, but on no common task: Recovered from failures." in text
    assert "Success by task category" not in text


def test_one_metric_of_many_is_no_answer(tables: Tables) -> None:
    """A change that its own interval calls sure may be one of many: the answer says nothing."""
    shares = {"tsa": (0.5, 0.7), "parameter_validity": (0.5, 0.5), "success": (0.5, 0.5)}
    for place in range(12):
        for side, release in enumerate(("1", "2")):
            task = f"t{place}"
            run_id = tables.run(release, task_id=task)
            tables.scored(run_id, task)
            tables.con.execute("UPDATE trajectory_scores SET sample_weight = 1")
            for metric, values in shares.items():
                # Most tasks rise and some fall: the interval is above 0, but not by far.
                fall = 0.35 if metric == "tsa" and place < 3 and side else 0.0
                value = values[side] - fall
                tables.score(run_id, metric, value, numerator=10 * value, denominator=10.0)
    judgement = judge(read_comparisons(tables.con, "lake", "1", "2"), [])
    (comparison,) = judgement.comparisons.cohorts

    text = render_terminal(judgement, width=150, colour=False)
    assert comparison.metrics["tsa"].direction == 1
    assert "beyond chance, over" in text


def test_programs_get_unrounded_numbers(found: Comparisons) -> None:
    """JSON and CSV hold the same doubles."""
    judgement = judge(found, [])
    document = json.loads(render_json(judgement))["comparisons"][0]
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(render_csv(judgement)))}

    assert document["metrics"]["tsa"]["candidate"] == 104 / 120
    assert float(rows["tsa"]["candidate"]) == 104 / 120
    assert document["trade_off"] == "tsa_up_pq_down"


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


@pytest.fixture
def tables() -> Iterator[Tables]:
    """Empty tables."""
    with closing(Tables()) as tables:
        yield tables


def test_run_modes_are_never_pooled(tables: Tables) -> None:
    """A task that one release ran live and the other mocked is in no pair."""
    for release, mode in (("1", "live"), ("1", "mocked"), ("2", "live"), ("2", "mocked")):
        run_id = tables.run(release, task_id="a", run_mode=mode)
        tables.scored(run_id, "a")
        value = float(mode == "live")
        tables.score(run_id, "success", value, numerator=value, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")

    assert [
        (c.cohort.run_mode, c.metrics["success"].found.base) for c in found.cohorts
    ] == [("live", 1.0), ("mocked", 0.0)]  # fmt: skip
    tables.scored(tables.run("3", task_id="a", run_mode="production"), "a")
    with pytest.raises(NothingToCompare, match="scored releases: '1', '2', '3'"):
        read_comparisons(tables.con, "lake", "1", "3")


def test_mocked_calls_are_held_against_live_ones(tables: Tables) -> None:
    """Equal, other values, other shape, no live call of equal arguments, content missing."""
    live, mocked = (tables.run("1", run_mode=mode) for mode in ("live", "mocked"))
    results = {
        "same": ('{"a":1}', '{"a":1}'),
        "values": ('{"a":1}', '{"a":2}'),
        "shape": ('{"a":1}', '{"b":"x"}'),
        "text": ("fine", "not fine"),
        "miss": (None, '{"a":1}'),
        "cut": ('{"a":1}', None),
    }
    for index, (name, (real, mock)) in enumerate(results.items()):
        for run_id, result in ((live, real), (mocked, mock)):
            if run_id == mocked or real is not None:
                tables.insert("steps", trajectory_id=run_id, step_index=index, kind="tool_call",
                              tool_name="look", arguments=f'{{"for":"{name}"}}', result=result,
                              status="ok", flags=[])  # fmt: skip
    rows = tables.con.execute(query("mock_live_calls"), {"base": "1", "candidate": "2"}).fetchall()

    # calls, content missing, misses, matched, other shape, other values
    assert rows == [("files", "look", 6, 1, 1, 4, 1, 2)]


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\x00| `x` [y](javascript:z)"


def test_hostile_names_are_text(tables: Tables) -> None:
    """Neither a terminal nor a Markdown reader acts on what a trace calls its tasks."""
    for release in ("1", "2"):
        for trial in range(2):
            run_id = tables.run(release, HOSTILE, task_id=HOSTILE, trial=trial)
            tables.scored(run_id, HOSTILE)
            value = float(release == "1")
            tables.score(run_id, "success", value, numerator=value, denominator=1.0)
    judgement = judge(read_comparisons(tables.con, HOSTILE, "1", "2"), parse_rules(["tsa<0"]))
    page = render_markdown(judgement)

    for text in (render_terminal(judgement, width=90, colour=False), page, render_csv(judgement)):
        assert not {"\x1b", "\u202e", "\x00"} & set(text)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert not kinds & {"link_open", "image", "html_inline"}
    assert render_json(judgement).isascii()
