"""One run, step by step, as `tracegrade report --trajectory` shows it."""

import csv
import io
import json
import re
from typing import Any

import pytest
from tests.scoring.report.build import START, Tables
from tests.scoring.report.test_hostile import HOSTILE, Page, acting

from tracegrade_scoring.errors import TrajectoryUnknown
from tracegrade_scoring.timeline.as_csv import render_csv
from tracegrade_scoring.timeline.as_json import render_json
from tracegrade_scoring.timeline.html import render_html
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.read import VERDICT_ROWS, Window, read_timeline
from tracegrade_scoring.timeline.texts import render_markdown, render_terminal
from tracegrade_scoring.timeline.view import timeline_view


def refund(tables: Tables, said: str = "The refund is done.") -> str:
    """Insert a run that fails once, takes the wrong tool once, and misses a decision."""
    run = tables.run(task_id="refund", trial=2, user_input="refund c-7", duration_ms=2_500.0)
    tables.scored(run, "refund")
    tables.score(run, "success", 0.0, source="task", numerator=0.0, denominator=1.0)
    tables.score(run, "step_efficiency", None, reason="failed")
    steps: tuple[dict[str, Any], ...] = (
        {"kind": "thought", "role": "assistant", "content": "I look the order up."},
        {"kind": "tool_call", "tool_name": "scan_orders", "arguments": '{"customer":"c-7"}',
         "result": said, "status": "ok", "effect": "read"},
        {"kind": "observation", "tool_name": "scan_orders", "content": said, "call_step": 1},
        {"kind": "tool_call", "tool_name": "issue_refund", "arguments": "{}", "status": "error",
         "error_type": "Declined", "error_message": "no funds"},
        {"kind": "answer", "role": "assistant", "content": said},
    )  # fmt: skip
    for index, step in enumerate(steps):
        tables.insert(
            "steps", trajectory_id=run, step_index=index, start_time=START, duration_ms=500.0,
            span_id=f"s{index}", flags=["redacted"] if index == 1 else [], **step,
        )  # fmt: skip
    tables.insert(
        "decisions", trajectory_id=run, decision_index=0, decision="find", step_index=1,
        picked_tool="scan_orders", expected_tool="search_orders", correct=False, counted=True,
        missed=False, failed_criteria=["c"], reason="search_orders costs 1, not 20",
    )  # fmt: skip
    tables.insert(
        "decisions", trajectory_id=run, decision_index=1, decision="tell", correct=False,
        counted=True, missed=True, expected_tool="send_message",
    )  # fmt: skip
    tables.insert(
        "failures", trajectory_id=run, step_trajectory_id=run, step_index=3, mode="goal_drift",
        source="static", detail="three calls off the plan",
    )  # fmt: skip
    tables.insert("sub_goals", trajectory_id=run, sub_goal="pay", critical=True, attempted=True,
                  completed=False)  # fmt: skip
    return run


def test_timeline_says_what_became_of_a_run_that_did_not_end(tables: Tables) -> None:
    """It waits, and how much of it is missing; its call says so, too."""
    run = tables.run(interrupted=True, flags=["dropped_attributes", "retried", "unrecorded_calls"])
    tables.insert(
        "steps", trajectory_id=run, step_index=0, kind="tool_call", tool_name="send",
        status="interrupted", span_id="s0", flags=[],
    )  # fmt: skip

    shown = " ".join(render_terminal(timeline(tables, run), width=100, color=False).split())

    assert "interrupted: it waits for an approval, an answer or a result" in shown
    assert "the exporter dropped attributes" in shown
    assert "it was restarted after errors" in shown
    assert "tool calls were made, or may have been, that were not recorded" in shown
    assert "send interrupted" in shown
    (step,) = timeline(tables, run).steps
    assert step.status == "interrupted"


def timeline(tables: Tables, name: str, **limits: int) -> Timeline:
    """Return the run of that name."""
    return read_timeline(tables.con, "lake", name, Window(**limits))


def test_every_format_shows_steps_and_what_was_found_there(tables: Tables) -> None:
    """Calls, the error, the wrong and the missed decision, the failure mode, the open sub-goal."""
    found = timeline(tables, refund(tables))
    texts = (
        render_terminal(found, width=200, color=False),
        render_html(found),
        render_markdown(found).replace("\\", ""),
    )

    for text in texts:
        for fact in (
            "issue_refund",
            "Declined: no funds",
            "wrong decision (find): search_orders costs 1, not 20",
            "never called send_message at the decision tell",
            "three calls off the plan (goal drift)",
            "worked on, not completed",
            "failed (task)",
            "the run failed, and only successful ones count here",
            "redacted",
            "as returned",
        ):
            assert fact in text


def test_marks_stand_at_their_steps(tables: Tables) -> None:
    """A program finds each piece of evidence beside the step that shows it."""
    document = json.loads(render_json(timeline(tables, refund(tables))))

    found = [[mark["what"] for mark in step["found"]] for step in document["steps"]]
    assert found == [[], ["wrong_decision"], [], ["goal_drift"], []]
    assert [mark["name"] for mark in document["missed"]] == ["tell"]
    assert document["scores"]["success"]["value"] == 0.0


def test_csv_has_one_row_for_each_step(tables: Tables) -> None:
    """In the order of steps, with unrounded numbers."""
    rows = list(csv.DictReader(io.StringIO(render_csv(timeline(tables, refund(tables))))))

    assert [row["kind"] for row in rows] == [
        *("thought", "tool_call", "observation", "tool_call", "answer"),
    ]
    assert rows[1]["duration_ms"] == "500.0"
    assert rows[1]["flags"] == "redacted"


def test_beginning_of_an_id_is_enough(tables: Tables) -> None:
    """One that begins so is meant, an equal id before longer ones, several are refused."""
    tables.runs = 11
    for _ in range(3):
        tables.run()  # t12, t13, t14
    tables.runs = 119
    tables.run()  # t120

    assert timeline(tables, "t13").run.trajectory_id == "t13"
    assert timeline(tables, "t12").run.trajectory_id == "t12"
    with pytest.raises(TrajectoryUnknown, match="several trajectories begin with 't1': t12, t120"):
        timeline(tables, "t1")
    with pytest.raises(TrajectoryUnknown, match="no trajectory has the id 'x'"):
        timeline(tables, "x")


def test_run_without_scores_or_times_is_still_told(tables: Tables) -> None:
    """An unscored run without captured content shows its steps and the unknown parts."""
    run = tables.run(complete=False)
    tables.insert("steps", trajectory_id=run, step_index=0, kind="tool_call", status="unknown")
    found = timeline(tables, run)

    text = render_terminal(found, width=100, color=False)
    assert "not scored" in text
    assert "its root span has not arrived" in text
    assert "tool call" in render_html(found)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("recovered", "(its result matches the tool's error pattern) and was recovered"),
        (None, "(its result matches the tool's error pattern) and its recovery"),
    ],
)
def test_failure_that_no_status_tells_is_marked(
    tables: Tables, outcome: str | None, said: str
) -> None:
    """With what says so, and whether the agent recovered."""
    run = tables.run()
    tables.insert("steps", trajectory_id=run, step_index=0, kind="tool_call", status="ok")
    tables.insert("failed_calls", trajectory_id=run, step_trajectory_id=run, step_index=0,
                  failed_by="error_pattern", outcome=outcome)  # fmt: skip

    found = timeline(tables, run)
    assert said in render_terminal(found, width=100, color=False)
    assert '<li class="failed"' in render_html(found)


HEADLINES = [
    (0.0, "Failed: called look 3 times; never called pay"),
    (1.0, "Succeeded, but: called look 3 times; never called pay"),
    (None, "Not known whether it succeeded: called look 3 times; never called pay"),
]


@pytest.mark.parametrize(("success", "headline"), HEADLINES)
def test_headline_is_the_first_two_reasons_of_different_kinds(
    tables: Tables, success: float | None, headline: str
) -> None:
    """Behind how the run came out, and in every format."""
    run = tables.run()
    tables.scored(run, None)
    tables.score(run, "success", success)
    reasons = [
        ("loop", "called look 3 times"), ("loop", "called peek 3 times"),
        ("never_called", "never called pay"), ("no_answer", "ended without an answer"),
    ]  # fmt: skip
    for rank, (kind, sentence) in enumerate(reasons, 1):
        tables.insert("run_reasons", trajectory_id=run, rank_in_run=rank, kind=kind,
                      sentence=sentence, source="static", key="k")  # fmt: skip
    found = timeline(tables, run)

    assert headline in render_terminal(found, width=100, color=False)
    assert headline in render_html(found)
    assert [reason["kind"] for reason in json.loads(render_json(found))["reasons"]] == [
        kind for kind, _ in reasons
    ]


def test_made_up_times_are_not_shown(tables: Tables) -> None:
    """An import without times gets one note; a step without a time among others gets its own."""
    made_up = START.replace(year=2000)
    run = tables.run(duration_ms=2.0, start_time=made_up)
    step: dict[str, Any] = {"trajectory_id": run, "kind": "tool_call", "start_time": made_up}
    tables.insert("steps", step_index=0, duration_ms=1.0, flags=["synthetic_time"], **step)

    text = render_terminal(timeline(tables, run), width=100, color=False)
    assert "none were recorded" in text
    assert not any(said in text for said in ("started", "took", "+0.0", "no time was recorded"))

    tables.con.execute("UPDATE trajectories SET start_time = $start", {"start": START})
    started = render_terminal(timeline(tables, run), width=100, color=False)
    assert "started" in started
    assert "its steps have none" in started

    tables.insert("steps", step_index=1, duration_ms=1.0, flags=[], **step)
    mixed = render_terminal(timeline(tables, run), width=100, color=False)
    assert mixed.count("no time was recorded") == 1
    assert "took" in mixed


def test_metrics_that_do_not_apply_stand_together(tables: Tables) -> None:
    """Below the scores, with the reason once."""
    text = render_terminal(timeline(tables, refund(tables)), width=100, color=False)

    assert "only successful ones count here: Step efficiency" in text


def test_long_runs_and_texts_are_cut_and_say_so(tables: Tables) -> None:
    """A page holds the first steps and the beginning of a text; both say how much there is."""
    run = refund(tables, said="x" * 1_000_000)
    found = timeline(tables, run, rows=3, characters=1_000)

    page = render_html(found)
    assert len(page) < 60_000
    assert "2 more steps are not shown" in page
    assert "the longest text of this step has 1,000,000 characters" in page


def test_step_of_a_sub_agent_is_marked_in_its_own_run(tables: Tables) -> None:
    """A failure mode of the attempt stands at the step that shows it, whosever it is."""
    parent = tables.run()
    child = tables.run(agent="helper", parent_trajectory_id=parent)
    for run in (parent, child):
        tables.insert("steps", trajectory_id=run, step_index=0, kind="tool_call", status="ok")
    tables.insert("failures", trajectory_id=parent, step_trajectory_id=child, step_index=0,
                  mode="loop_trap", source="static")  # fmt: skip

    found = timeline(tables, parent)
    assert (found.marks_at(0), found.run.children) == ([], [child])
    told = f"helper, run {child}, step 0: failure mode loop trap"
    page = re.sub(r"<[^>]+>|\n", "", render_html(found))
    for text in (render_markdown(found), render_terminal(found, width=99, color=False), page):
        assert told in text.replace("\\", "")
    assert json.loads(render_json(found))["found_in_sub_agents"][0]["step_agent"] == "helper"
    assert [mark.what for mark in timeline(tables, child).marks_at(0)] == ["loop_trap"]


@pytest.mark.parametrize(("other", "named"), [("analyst", True), ("researcher", False)])
def test_steps_of_several_agents_say_whose_they_are(
    tables: Tables, other: str, named: bool
) -> None:
    """Where there is one agent, its name stands at the top alone."""
    run = tables.run(agent="lead")
    for index, name in enumerate(("researcher", other)):
        tables.insert("steps", trajectory_id=run, step_index=index, kind="tool_call",
                      tool_name="lookup", agent_name=name, status="ok")  # fmt: skip
    found = timeline(tables, run)
    for text in (
        render_terminal(found, width=99, color=False), render_markdown(found), render_html(found),
    ):  # fmt: skip
        assert [f"by {name}" in text for name in ("researcher", other)] == [named, named]


def test_criteria_of_tool_selection_are_told_in_words(tables: Tables) -> None:
    """Their letters are of the law, and no reader knows them."""
    run = tables.run()
    tables.scored(run, None)
    tables.score(run, "tsa", 0.5, numerator=1.0, denominator=2.0, label="a, b")
    text = render_terminal(timeline(tables, run), width=120, color=False)
    assert "1 of 2 decisions; judged by tool, arguments" in text


def test_hostile_texts_are_text(tables: Tables) -> None:
    """Whatever a run says, no page of it has an element, link or character that acts."""
    text = "\n".join(HOSTILE)
    run = refund(tables, said=text)
    tables.con.execute("UPDATE steps SET tool_name = $text, error_message = $text", {"text": text})
    tables.con.execute("UPDATE trajectories SET user_input = $text", {"text": text})
    found = timeline(tables, run)
    page, plain = Page(render_html(found)), Page(render_html(timeline(tables, tables.run())))

    texts = {"pre", "details", "summary", "li", "span", "div", "section", "p", "h3", "ul"}
    tables_of_steps = {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.tags - plain.tags <= texts | tables_of_steps | {"svg", "g", "rect", "text"}
    assert not {"src", "href", "onerror", "onload"} & {name for name, _ in page.attributes}
    for shown in (render_html(found), render_terminal(found, width=80, color=False),
                  render_markdown(found), render_csv(found), render_json(found)):  # fmt: skip
        assert not acting(shown)


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (
            '[{"id":"a","text":"Look","tool":"find","effect":"read","on_failure":["ask","stop"],'
            '"rollback":"none","status":"pending"},{"id":"b"}]',
            ["- Look (find, read), undo: none, if it fails: ask; stop [pending]", "- b"],
        ),
        ('["Look","Leave"]', ["- Look", "- Leave"]),
        ("1. Look\n2. Leave", ["1. Look", "2. Leave"]),
        ('{"not":"a list"}', ['{"not":"a list"}']),
        ("[]", []),
    ],
)
def test_plan_is_told_step_by_step(tables: Tables, plan: str, lines: list[str]) -> None:
    """Each planned step is one line, for any declaration of the agent; a text stays unchanged."""
    run = tables.run()
    tables.insert("steps", trajectory_id=run, step_index=0, kind="plan", plan=plan, flags=[])
    (step,) = timeline(tables, run).steps

    assert (step.content or "").splitlines() == lines


PARTS: tuple[dict[str, Any], ...] = (
    {"subject": "rollback", "kill_point": "late", "label": "fail", "source": "state-diff"},
    {"subject": "planning", "question": "scope_control", "value": 0.25, "source": "judge:planner",
     "evidence": "It also plans a <i>rebate</i>."},
    {"subject": "served", "sub_goal": "pay", "step_index": 3, "label": "no",
     "source": "human:ann"},
    {"subject": "served", "sub_goal": "find", "step_index": 1, "label": "yes",
     "source": "judge:served"},
    {"subject": "sub_goal", "sub_goal": "pay", "label": "no", "source": "human:ann"},
)  # fmt: skip


def test_verdicts_on_parts_of_a_run_stand_below_its_sub_goals(tables: Tables) -> None:
    """Each says what it is about; those on success stand with the outcome alone."""
    run = refund(tables)
    for verdict in PARTS:
        tables.insert("verdicts", trajectory_id=run, **verdict)
    tables.insert("verdicts", trajectory_id=run, subject="success", label="bad", source="human:bo")
    timeline = read_timeline(tables.con, "lake", run)
    rows = timeline_view(timeline).verdicts
    assert rows == (
        ("sub-goal pay was reached", "no", "ann"),
        ("step 1 serves sub-goal find", "yes", "judge served"),
        ("step 3 serves sub-goal pay", "no", "ann"),
        ("plan: scope control", "0.25", "judge planner (It also plans a <i>rebate</i>.)"),
        ("undone after the late kill", "fail", "state-diff"),
    )
    texts = render_terminal(timeline, width=120, color=False), render_markdown(timeline)
    for text in (*texts, render_html(timeline)):
        assert all(about in text for about, _, _ in rows[:3])
    subjects = [verdict["subject"] for verdict in json.loads(render_json(timeline))["verdicts"]]
    assert subjects == ["success", "sub_goal", "served", "served", "planning", "rollback"]


def test_verdicts_beyond_those_of_a_page_are_counted(tables: Tables) -> None:
    """The last row says how many are not shown, and where they are."""
    run = refund(tables)
    for index in range(VERDICT_ROWS + 3):
        tables.insert("verdicts", trajectory_id=run, subject="served", sub_goal="pay",
                      step_index=index, label="yes", source="judge:served")  # fmt: skip
    timeline = read_timeline(tables.con, "lake", run)
    *shown, last = timeline_view(timeline).verdicts
    assert (len(shown), last[0]) == (VERDICT_ROWS, "3 more verdicts")
    assert timeline.total_verdicts == VERDICT_ROWS + 3
