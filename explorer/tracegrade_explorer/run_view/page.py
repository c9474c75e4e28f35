"""Collects the content of a run's page."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Final, NamedTuple

from markupsafe import escape

from tracegrade.terminal.visible import visible
from tracegrade_explorer import links
from tracegrade_explorer.run_view.blocks import LEAST_REPEATS
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.metrics import FAILURE_MODES, Metric
from tracegrade_scoring.pictures.small import MapStep
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import StepView
from tracegrade_scoring.rendering.catalog import main_metrics, more_metrics
from tracegrade_scoring.timeline.cards.decision_card import DecisionCard
from tracegrade_scoring.timeline.cards.json_text import beginning, folded_json, is_json
from tracegrade_scoring.timeline.model import RunReason, Step, Timeline
from tracegrade_scoring.timeline.view import AS_RETURNED, TimelineView, mark_sentence

SHORTEST_LIMIT: Final = 400
"""Characters of a text on a page of many steps; a link leads to all of it."""
LONGEST_TEXT: Final = 4_000
"""The same on a page of few steps."""
PAGE_CHARACTERS: Final = 200_000
"""Characters that the steps of a page share."""
SHOWS: Final[Mapping[str, str]] = {
    "all": "all",
    "calls": "calls",
    "thoughts": "thoughts",
    "failed": "failed",
    "plans": "plans",
    "findings": "findings",
}
"""Kinds of steps that may be shown alone."""
EVIDENCE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tsa", "tsa_source_text", "missed_decisions", "wrong_call_rate"), "decision"),
    **dict.fromkeys(("recovery_rate", "replan_given_failure"), "failed_call"),
    **{mode: mode for mode in FAILURE_MODES},
}
"""By metric, the kind of its evidence."""
OF_PLANS: Final = ("replans", "pq", "plan_")
"""Prefix of metrics that are counted from plans."""
OF_CALLS: Final = (
    *("actual_steps", "step_", "redundant_calls", "tool_", "parameter_validity"),
    *("destructive_", "off_plan_calls", "termination"),
)
NEVER_CALLED: Final = "never_called"
"""Kind of the reason that a call was expected and not made."""
NO_AGENTS: Final[Mapping[int, str]] = {}
HEIGHTS: Final[Mapping[str, int]] = {"tool_call": 3, "plan": 3, "handoff": 3, "answer": 2}


class RunFinding(NamedTuple):
    """A finding of scoring, and its steps."""

    sentence: str
    steps: tuple[tuple[str, str], ...]
    """Each in words with its address, which may be in the run of a sub-agent; none for a call
    that was expected and not made."""
    times: int
    """Number of repeats in a row: at least `LEAST_REPEATS`, else 1."""


class HeadlineReason(NamedTuple):
    """A reason why a run failed, or what else went wrong in it."""

    sentence: str
    href: str
    """Address of the step or of the card that shows it; '' without one."""
    step: str
    """That step in words; '' without one."""


class Evidence(NamedTuple):
    """A step that a score was counted from."""

    step: str
    """In words."""
    href: str
    """Address of the step, which may be a sub-agent's."""
    mark: str
    """✓ ✗ or ''."""
    note: str
    """The note of a user's own metric; '' without one."""


class ScoreRow(NamedTuple):
    """One score of the run."""

    metric: Metric
    value: str
    basis: str
    steps: tuple[Evidence, ...]
    show: str
    """The selection that shows its evidence; '' for none."""


def findings(timeline: Timeline, agents: Mapping[int, str]) -> list[RunFinding]:
    """Return the findings in the order of steps, then those without a step.

    Equal findings in a row are one.

    Args:
        timeline: The run.
        agents: By index of a step of it whose it is, where they are of several agents.
    """
    run_id = timeline.run.trajectory_id
    found: list[RunFinding] = []
    for sentence, group in groupby(timeline.marks, key=mark_sentence):
        links = [
            _step_link(run_id, mark.step_trajectory_id, mark.step_index, mark.step_agent, agents)
            for mark in group
        ]
        steps = [(link,) if link[0] else () for link in links]
        if len(steps) < LEAST_REPEATS:
            found += [RunFinding(sentence, each, 1) for each in steps]
        else:
            found.append(RunFinding(sentence, (*chain(*steps),), len(steps)))
    return found


def reasons(timeline: Timeline, unmade: Sequence[DecisionCard] = ()) -> list[HeadlineReason]:
    """Return the reasons of the run's headline.

    Args:
        timeline: The run.
        unmade: The cards of calls that were not made, in the order of the page.
    """
    run_id = timeline.run.trajectory_id
    found = []
    for reason in timeline.headline:
        step, href = _step_link(run_id, reason.step_trajectory_id, reason.step_index, None)
        if reason.kind == NEVER_CALLED and (number := unmade_number(reason, unmade)):
            href = f"#missed-{number}"
        found.append(HeadlineReason(words.line(reason.sentence), href, step))
    return found


def unmade_number(reason: RunReason, unmade: Sequence[DecisionCard]) -> int:
    """Return the number of the card of a tool that was not called; 0 if none is shown."""
    expected = [card.expected for card in unmade]
    name = words.name(reason.object, "")
    return expected.index(name) + 1 if name in expected else 0


def open_card(
    timeline: Timeline, by_step: Collection[int], unmade: Sequence[DecisionCard]
) -> tuple[int | None, int]:
    """Return the step whose card is open, or the number of a missed call's: the headline's.

    Without either in the headline it is the first of the page.

    Args:
        timeline: The run.
        by_step: Steps that have a card.
        unmade: The cards of calls that were not made.
    """
    own = (None, timeline.run.trajectory_id)
    for reason in timeline.headline:
        if reason.step_index in by_step and reason.step_trajectory_id in own:
            return reason.step_index, 0
        if reason.kind == NEVER_CALLED and (number := unmade_number(reason, unmade)):
            return None, number
    return (min(by_step), 0) if by_step else (None, 1)


def _step_link(
    run_id: str,
    step_trajectory_id: str | None,
    step_index: int | None,
    agent: str | None,
    agents: Mapping[int, str] = NO_AGENTS,
) -> tuple[str, str]:
    """Return a step in words and its address: with its agent where there are several."""
    if step_index is None:
        return "", ""
    if step_trajectory_id in {None, run_id}:
        whose = agents.get(step_index)
        return f"{whose} s{step_index}" if whose else f"s{step_index}", f"#s{step_index}"
    whose = words.name(agent, "sub-agent")
    return f"{whose} s{step_index}", links.run(step_trajectory_id or "", step=step_index)


def select_steps(
    timeline: Timeline, view: TimelineView, show: str, tool: str, text: str
) -> list[StepView]:
    """Return the steps that are of one kind, of one tool, and whose texts contain something."""
    return [
        step_view
        for step, step_view in zip(timeline.steps, view.steps, strict=True)
        if _is_selected(step, step_view, show)
        and (not tool or step.tool_name == tool)
        and (not text or _contains(step, text.lower()))
    ]


def _is_selected(step: Step, view: StepView, show: str) -> bool:
    return {
        "calls": step.kind in {"tool_call", "observation"},
        "thoughts": step.kind in {"thought", "message", "answer"},
        "failed": view.failed,
        "plans": step.kind == "plan",
        "findings": bool(view.marks),
    }.get(show, True)


def _contains(step: Step, text: str) -> bool:
    texts = (step.arguments, step.result, step.content, step.error, step.tool_name)
    return any(text in each.lower() for each in texts if each)


def map_steps(views: Iterable[StepView]) -> Iterator[MapStep]:
    """Yield each step as the minimap draws it."""
    for view in views:
        height = 4 if view.marks else HEIGHTS.get(view.kind, 1)
        kind = "found" if view.marks else "failed" if view.failed else view.kind
        title = f"s{view.index} {view.kind} {view.title}"
        yield MapStep(view.index, kind if kind.isidentifier() else "other", height, title)


def score_rows(
    timeline: Timeline,
    view: TimelineView,
    rows: Iterable[Row],
    agents: Mapping[str | None, str | None],
) -> list[ScoreRow]:
    """Return the scores that have a value, or failed, with the steps they were counted from.

    Args:
        timeline: The run.
        view: The same in words.
        rows: Of `run_evidence`.
        agents: Names of its sub-agents by the ids of their runs.
    """
    by_about: dict[str, list[Evidence]] = {}
    by_metric: dict[str, list[Evidence]] = {}
    for row in rows:
        if row["step_index"] is not None:
            mark = {True: "✓", False: "✗", None: ""}[row["good"]]
            link = _step_link(
                timeline.run.trajectory_id, row["step_trajectory_id"], row["step_index"],
                agents.get(row["step_trajectory_id"]),
            )  # fmt: skip
            found, key = (
                (by_about, row["about"]) if row["about"] else (by_metric, row["own_metric"])
            )
            found.setdefault(key, []).append(Evidence(*link, mark, visible(row["note"] or "")))
    names = {score.metric: score for score in timeline.scores}
    scored = [
        metric
        for metric in (*main_metrics(names), *more_metrics(names, timeline.own_metrics))
        if names[metric.name].status in {"scored", "error"}
    ]
    return [
        ScoreRow(
            metric, value, basis,
            tuple(by_metric.get(metric.name) or by_about.get(EVIDENCE.get(metric.name, ""), [])),
            _show_of(metric.name),
        )
        for metric, (_, value, basis) in zip(scored, view.scores, strict=True)
    ]  # fmt: skip


def _show_of(metric: str) -> str:
    if metric in EVIDENCE:
        return ""
    return (
        "plans" if metric.startswith(OF_PLANS) else "calls" if metric.startswith(OF_CALLS) else ""
    )


def text_limit(steps: int) -> int:
    """Return the characters of a text that a page of so many steps shows."""
    return min(LONGEST_TEXT, max(SHORTEST_LIMIT, PAGE_CHARACTERS // max(steps, 1)))


def step_texts(view: StepView, step: Step, trajectory_id: str, most: int) -> list[dict[str, Any]]:
    """Return the texts of a step, each cut to so many characters, with a link to all of it."""
    found = []
    for text in () if is_as_returned(view) else view.texts:
        name = text.title or "content"
        whole = {"arguments": step.arguments, "result": step.result}.get(name, step.content) or ""
        shown, is_cut = text.text[:most], len(text.text) > most
        if json := is_json(text.text):
            shown, is_cut = beginning(text.text, most)
        link = links.step_text(trajectory_id, view.index, name, indent=json)
        found.append(
            {
                "title": text.title,
                "text": folded_json(shown) if json else escape(shown),
                "whole": link if is_cut else "",
                "characters": max(len(whole), step.longest if is_cut and _is_longest(step, whole)
                                  else 0),
            }
        )  # fmt: skip
    return found


def is_as_returned(view: StepView) -> bool:
    """Return whether a step is the observation of a call, and equals the call's result."""
    return [text.text for text in view.texts] == [AS_RETURNED]


def _is_longest(step: Step, text: str) -> bool:
    texts = (step.arguments, step.result, step.content)
    return len(text) == max(len(each or "") for each in texts)
