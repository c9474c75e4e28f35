"""A report says what the tables say: numbers, evidence, and what is missing."""

import html
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.scoring.report.build import Tables

from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.model import CohortKey, Release, Report
from tracegrade_scoring.report.texts import render_markdown, render_terminal
from tracegrade_scoring.statistics.sums import add_scores, read_scores, total_sums


def only(report: Report) -> Release:
    """Return the release of a report that has one."""
    (release,) = report.releases
    return release


def attempt(tables: Tables, success: float | None, task_id: str, **facts: Any) -> None:
    """Insert a run of a task whose success is known, or not."""
    run = tables.run(task_id=task_id, **facts)
    tables.scored(run, task_id)
    tables.score(run, "success", success)


def test_json_has_each_metric_unrounded(tables: Tables) -> None:
    """Programs get the very doubles of release_scores, with counts and the reasons beside."""
    run = tables.run()
    tables.scored(run, None)
    tables.score(run, "tsa", None, reason="no_expectation")
    tables.release("tsa", 1 / 3, numerator=3.0, denominator=9.0, low=0.1, high=2 / 3, scored=2,
                   not_applicable=1, trajectories=3)  # fmt: skip

    (release,) = json.loads(render_json(tables.report()))["releases"]

    assert release["metrics"]["tsa"] == {
        "metric": "tsa",
        "value": 1 / 3,
        "numerator": 3.0,
        "denominator": 9.0,
        "low": 0.1,
        "high": 2 / 3,
        "interval_method": None,
        "scored": 2,
        "not_applicable": 1,
        "error": 0,
        "trajectories": 3,
        "flags": [],
        "unscored": [{"status": "not_applicable", "reason": "no_expectation", "trajectories": 1}],
    }


def test_json_has_unbiased_passes_per_run_mode(tables: Tables) -> None:
    """Two tasks, three attempts each, 3 and 1 successful; another run mode stands apart."""
    for task, outcomes in {"a": (1.0, 1.0, 1.0), "b": (1.0, 0.0, 0.0)}.items():
        for trial, outcome in enumerate(outcomes):
            attempt(tables, outcome, task_id=task, trial=trial, run_mode="live")
    attempt(tables, 0.0, task_id="a", trial=1, run_mode="mocked")

    releases = json.loads(render_json(tables.report()))["releases"]

    assert [
        (release["run_mode"], row["k"], row["pass_at_k"], row["pass_hat_k"], row["estimator"])
        for release in releases
        for row in release["pass"]
    ] == [
        ("live", 1, 2 / 3, 2 / 3, "unbiased"),
        ("live", 2, 5 / 6, 0.5, "unbiased"),
        ("live", 3, 1.0, 0.5, "unbiased"),
        ("mocked", 1, 0.0, 0.0, "unbiased"),
    ]


def test_attempt_is_correct_only_if_every_turn_is(tables: Tables) -> None:
    """Runs of one conversation are turns of one attempt; unknown success is not a failure."""
    for conversation, outcomes in {"c1": (1.0, 0.0), "c2": (1.0, 1.0), "c3": (1.0, None)}.items():
        for outcome in outcomes:
            attempt(tables, outcome, task_id="a", conversation_id=conversation)

    cohort = only(tables.report()).reliability

    assert cohort is not None
    assert (cohort.valid, cohort.invalid, cohort.superseded) == (2, 1, 0)
    assert [row.pass_at_k for row in cohort.passes] == [0.5, 1.0]


def test_trial_run_twice_counts_by_its_later_run(tables: Tables) -> None:
    """Without a conversation, the earlier run of a trial is superseded."""
    for outcome in (0.0, 1.0):
        attempt(tables, outcome, task_id="a", trial=1)

    cohort = only(tables.report()).reliability

    assert cohort is not None
    assert (cohort.valid, cohort.superseded, cohort.passes[0].pass_at_k) == (1, 1, 1.0)


def test_superseded_run_is_in_no_metric(tables: Tables) -> None:
    """Only the later run of a trial has scores and evidence; how many were left out is said."""
    for outcome in (0.0, 1.0, 1.0):
        attempt(tables, outcome, task_id="a", trial=1)
        run = f"t{tables.runs}"
        tables.score(run, "success", outcome, numerator=outcome, denominator=1.0)
        tables.score(run, "loop_trap", 1 - outcome, numerator=1 - outcome, denominator=1.0)
        tables.insert("failures", trajectory_id=run, mode="unclassified", release="1.0")
    tables.con.execute("CREATE TEMP TABLE sum_parts AS FROM score_sums")
    add_scores(tables.con, read_scores(tables.con, "TRUE"))
    total_sums(tables.con)
    tables.con.execute("INSERT INTO score_sums BY NAME FROM current_sums")

    for _ in range(2):
        found = only(tables.report())
        success, loops = found.metrics["success"], found.metrics["loop_trap"]
        assert (success.value, success.scored, success.trajectories) == (1.0, 1, 1)
        assert loops.value == 0.0
        assert [row.runs for row in found.failure_modes] == [1]
    assert "2 runs superseded by a later one" in render_markdown(tables.report())
    assert tables.con.sql("SELECT count(*) FROM trajectory_scores").fetchall() == [(3,)]


def test_run_that_waits_replaces_none_and_is_not_replaced(tables: Tables) -> None:
    """The ended run of a trial counts, in any order of starts, unless the other was judged."""
    waiting: dict[str, Any] = {"interrupted": True}
    attempt(tables, None, task_id="a", trial=1, **waiting)
    attempt(tables, 1.0, task_id="a", trial=1)
    attempt(tables, None, task_id="a", trial=1, **waiting)
    attempt(tables, 1.0, task_id="a", trial=2)
    attempt(tables, 0.0, task_id="a", trial=2, **waiting)

    cohort = only(tables.report()).reliability

    assert cohort is not None
    assert (cohort.valid, cohort.invalid, cohort.superseded) == (2, 0, 1)
    assert cohort.passes[0].pass_at_k == 0.5
    replaced = tables.con.sql("SELECT trajectory_id FROM superseded_runs").fetchall()
    assert replaced == [("t4",)]


def test_attempts_that_had_more_than_one_chance_are_named(tables: Tables) -> None:
    """Begun anew after errors, or a trial that counts again in another conversation."""
    attempt(tables, 1.0, task_id="a", trial=1, flags=["retried"])
    attempt(tables, 1.0, task_id="a", trial=2, conversation_id="k1")
    attempt(tables, 0.0, task_id="a", trial=2, conversation_id="k2")

    report = tables.report()
    cohort = only(report).reliability

    assert cohort is not None
    assert (cohort.valid, cohort.retried, cohort.repeated) == (3, 1, 1)
    page = render_markdown(report)
    assert "1 of 3 attempts had more than one chance" in page
    assert "1 of 3 attempts repeat a trial in another conversation" in page


def test_attempts_with_one_chance_each_need_no_word(tables: Tables) -> None:
    """Trials of their own, and conversations without a trial."""
    for trial in (1, 2):
        attempt(tables, 1.0, task_id="a", trial=trial, flags=["dropped_attributes"])
    for conversation in ("k1", "k2"):
        attempt(tables, 1.0, task_id="a", conversation_id=conversation)

    report = tables.report()
    cohort = only(report).reliability

    assert cohort is not None
    assert (cohort.valid, cohort.retried, cohort.repeated) == (4, 0, 0)
    assert "chance" not in render_markdown(report)


def test_sub_agents_count_with_their_run(tables: Tables) -> None:
    """Calls, failures and tokens of sub-agents at any depth are the run's; they are not runs."""
    run = tables.run(tool_call_count=3, input_tokens=100)
    child = tables.run(agent="child", parent_trajectory_id=run, tool_call_count=2, error_count=1)
    tables.run(agent="deep", parent_trajectory_id=child, tool_call_count=5, output_tokens=7)

    found = only(tables.report()).runs

    assert (found.runs, found.tool_calls, found.errors) == (1, 10, 1)
    assert (found.input_tokens, found.output_tokens, found.token_runs) == (100, 7, 1)


def test_failures_that_only_results_tell_are_counted(tables: Tables) -> None:
    """A call that is fine by its status and fails by its result is a failed one in each row."""
    run = tables.run(tool_call_count=4, error_count=1)
    tables.scored(run, None)
    tables.score(run, "recovery_rate", 1 / 3, numerator=1.0, denominator=3.0)
    tables.run(tool_call_count=4, error_count=1)

    assert only(tables.report()).runs.errors == 4


def test_metric_without_a_value_is_explained_and_no_row(tables: Tables) -> None:
    """It is said once, for all releases, with what gives it one."""
    for release in ("1.0", "1.1"):
        run = tables.run(release)
        tables.scored(run, None)
        tables.score(run, "tsa", None, reason="no_expectation")
        tables.release("tsa", None, release=release)

    text = render_terminal(tables.report(), width=300, color=False)
    (line,) = [line for line in text.splitlines() if "Tool-selection accuracy" in line]

    assert line == (
        "\u2022 all runs: the task does not say which tools to pick "
        "(Tool-selection accuracy); give tasks `expected` calls"
    )
    assert "1 metric without any value is\nnot listed here" in render_html(tables.report())


def test_missing_interval_is_told_only_where_it_is_missing(tables: Tables) -> None:
    """Wilson's interval needs no five tasks."""
    tables.scored(tables.run(), None)
    tables.release("success", 0.5, low=0.1, high=0.9, flags=["few_tasks"])
    tables.release("tsa", 0.5, flags=["few_tasks"])

    text = render_terminal(tables.report(), width=300, color=False)

    assert "Tool-selection accuracy: too few tasks for an interval" in text


def test_releases_stand_in_order_of_their_first_run(tables: Tables) -> None:
    """Names sort wrongly (1.10 before 1.9), the clock does not; no release is one too."""
    for release in ("1.9", "1.10", None):
        tables.run(release)

    keys = [release.key for release in tables.report().releases]

    assert keys == [CohortKey("files", None, release) for release in ("1.9", "1.10", None)]


def test_equal_wrong_decisions_stand_together(sample_report: Report) -> None:
    """One row per kind of mistake, with how often, and the first run that shows it."""
    old, new, _ = sample_report.releases

    assert not new.wrong_decisions
    assert [
        (row.task_id, row.picked_tool, row.expected_tool, row.missed, row.times, row.trajectory_id)
        for row in old.wrong_decisions[:2]
    ] == [
        ("process-uploads", "scan_uploads", "check_empty", False, 3, "t1"),
        ("process-uploads", None, "check_disk", True, 3, "t1"),
    ]
    assert sum(row.times for row in old.wrong_decisions) == 33


def test_decision_that_is_right_or_not_counted_is_no_evidence(tables: Tables) -> None:
    """Only counted wrong decisions are shown."""
    run = tables.run()
    for index, (correct, counted) in enumerate([(True, True), (False, False)]):
        tables.insert("decisions", trajectory_id=run, decision_index=index, correct=correct,
                      counted=counted, release="1.0")  # fmt: skip

    assert only(tables.report()).wrong_decisions == ()


def test_terminal_shows_releases_side_by_side(sample_report: Report) -> None:
    """Both values of a metric stand on one line, with the difference and what it means."""
    text = render_terminal(sample_report, width=100, color=False)

    lines = [line for line in text.splitlines() if "Tool-selection accuracy  " in line]
    decided, line = lines  # the decision comes first
    assert "too few tasks" in decided
    assert re.split(r"\s{2,}", line.strip()) == [
        *("Tool-selection accuracy", "45.0%", "40\u201352%"),
        *("100.0%", "90\u2013100%", "+55.0 pts"),
    ]
    assert "Reliability over repeated attempts" in text
    assert "small sample" in text
    assert "the run failed, and only successful ones count here" in text


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_terminal_keeps_to_its_width(sample_report: Report, width: int) -> None:
    """No line is longer than the terminal, and no number is lost in a narrow one."""
    text = render_terminal(sample_report, width=width, color=False)

    assert max(map(len, text.splitlines())) <= width
    assert text.isprintable() is False
    for number in ("45.0", "62.5", "95.8"):
        assert number in text


def test_every_format_says_the_same(sample_report: Report) -> None:
    """Headline values, evidence and findings are in the terminal, Markdown and HTML alike."""
    texts = (
        render_terminal(sample_report, width=400, color=False),
        render_markdown(sample_report).replace("\\", ""),
        html.unescape(render_html(sample_report)),
    )

    for text in texts:
        for fact in (
            "41.7%",
            "27 of 60 decisions",
            "+55.0 pts",
            "check_empty was offered and costs 1, not 20",
            "hardly ever changed its plan after a failure: after 0 of 3 failed calls",
            "never worked on the critical sub-goal 'disk-space'",
            "small sample: fewer than 50 decision points",
            "the task does not say which tools to pick",
        ):
            assert fact in text


def test_replanning_is_no_finding_without_failures(tables: Tables) -> None:
    """An agent whose calls never fail has no reason to change its plan."""
    tables.run()
    tables.release("replan_given_failure", None, denominator=None)

    assert "hardly ever" not in render_terminal(tables.report(), width=90, color=False)


class Outline(HTMLParser):
    """What a page asks of a browser, and whether its elements are closed."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.policy = ""
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element and the page's policy."""
        self.tags.append(tag)
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself."""
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element."""
        assert self.open.pop() == tag


def test_page_stands_alone_and_is_well_formed(sample_report: Report) -> None:
    """One file: no script, nothing loaded, everything closed, plots drawn in it."""
    text = render_html(sample_report)
    page = Outline(text)

    assert page.open == []
    plots, graphs = 5, 2 * 4  # a graph of each task of two releases
    assert page.tags.count("svg") - text.count('<svg class="share"') == plots + graphs
    assert not {"script", "link", "iframe", "object", "img"} & set(page.tags)


def test_policy_allows_the_pages_own_style_and_nothing_else(sample_report: Report) -> None:
    """It names the style sheet's digest, and no element has a style of its own."""
    text = render_html(sample_report)
    (sheet,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = b64encode(sha256(sheet.encode()).digest()).decode()

    assert Outline(text).policy == f"default-src 'none'; style-src 'sha256-{digest}'"
    assert not re.search(r"<[^>]*\sstyle=", text)


def test_page_explains_each_metric_with_its_range(sample_report: Report) -> None:
    """Every row of the score table has a sentence that says from where to where."""
    meanings = re.findall(r'<span class="meaning">(.*?)</span>', render_html(sample_report))

    assert len(meanings) > 10
    assert all("from 0" in text or text == "Number of runs of the agent." for text in meanings)


def test_page_is_the_same_each_time(sample: Tables, sample_report: Report) -> None:
    """No clock and no random id is in it."""
    assert render_html(sample.report()) == render_html(sample_report)


def test_empty_lake_says_how_to_fill_it(tables: Tables) -> None:
    """Nothing landed: collect or import is next, in every format."""
    report = tables.report(lake="my lake")

    assert json.loads(render_json(report))["missing"][0]["commands"] == [
        "tracegrade collect --lake 'my lake'",
        "tracegrade import FILE --lake 'my lake'",
    ]
    assert "no spans yet" in render_terminal(report, width=90, color=False)
    assert "no spans yet" in render_markdown(report)
    assert "no spans yet" in render_html(report)


def test_spans_without_trajectories_ask_for_scoring(tables: Tables) -> None:
    """Landed spans become trajectories when they are scored."""
    tables.insert("raw_spans", span_id="s")

    text = render_terminal(tables.report(), width=90, color=False)

    assert "1 span landed, but no trajectory" in text
    assert "tracegrade score --lake lake" in text


def test_unscored_runs_are_shown_with_what_is_known(tables: Tables) -> None:
    """Runs, calls and tokens need no score; the next command is named."""
    tables.run(tool_call_count=4, error_count=1, input_tokens=90, output_tokens=10)

    text = render_terminal(tables.report(), width=90, color=False)

    assert "1 run is in the lake, but none has been scored" in text
    assert "25.0%" in text
    assert "90 in, 10 out" in text


def test_scores_without_tasks_ask_for_a_task_file(tables: Tables) -> None:
    """What needs a reference is missing, and the way to one is named."""
    tables.scored(tables.run(), None)

    text = render_terminal(tables.report(), width=90, color=False)

    assert "tracegrade score --lake lake --tasks tasks.yaml" in text


def test_runs_after_the_last_scoring_are_named(tables: Tables) -> None:
    """A report of half the lake says so."""
    tables.scored(tables.run(task_id="a"), "a")
    tables.run(task_id="a")

    text = render_terminal(tables.report(), width=90, color=False)

    assert "1 of 2 trajectories have not been scored yet" in text
