"""Why a run failed, in one short answer: reasons, the first wrong step, the nearest success."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from tracegrade_explorer.comparison.align import WORDS, Pair, align
from tracegrade_explorer.comparison.nearest import nearest_success
from tracegrade_explorer.issues.known import chips_of_run
from tracegrade_explorer.mcp_server.frame import clipped, without_nothing
from tracegrade_explorer.pages.run import scored_specification
from tracegrade_explorer.parallel import parallel
from tracegrade_explorer.responses import PageContent, PageRequest
from tracegrade_explorer.run_view.run_rows import timeline_rows
from tracegrade_explorer.snapshots.rows import FoundRun, find_run
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.timeline.cards.decision_card import DECISIONS, DecisionCard, decision_cards
from tracegrade_scoring.timeline.model import RunReason, Step, Timeline
from tracegrade_scoring.timeline.read import Window, read_steps, timeline_of

SUCCESS: Final = "nearest_success"
CHARACTERS: Final = 400
"""Length of one text."""
REASONS: Final = 5
NOT_MADE: Final = 3
OFFERED: Final = 20
"""Names of tools."""
STEPS_BEFORE: Final = 2
STEPS_AROUND: Final = 6
"""Steps to read next, from some before the wrong one."""


def explanation(request: PageRequest) -> PageContent:
    """Return why a run failed, for programs."""
    found = find_run(request.con, request.path["id"])
    rows = parallel(_readers(request, found))
    timeline = timeline_of(request.site.lake, rows, found.trajectory_id)
    cards = decision_cards(timeline, rows[DECISIONS], scored_specification(request))
    wrong = first_wrong_step(timeline, cards)
    data = {
        "run": _run(timeline),
        "why": [_reason(timeline, reason) for reason in timeline.reasons[:REASONS]],
        "issues": [
            {"title": clipped(chip.text, CHARACTERS), "state": chip.state}
            for chip in chips_of_run(request, found.seq)[:REASONS]
        ],
        "first_wrong_step": None if wrong is None else _wrong_step(timeline, cards, wrong),
        "calls_not_made": [_call_not_made(card) for card in cards if card.step is None][:NOT_MADE],
        "nearest_success": _nearest_success(request, rows[SUCCESS], timeline),
        "read_next": {"get_run": {
            "id": found.trajectory_id, "first": max(0, (wrong or 0) - STEPS_BEFORE),
            "count": STEPS_AROUND,
        }},
    }  # fmt: skip
    return PageContent("", "", {}, without_nothing(data))


def _readers(request: PageRequest, found: FoundRun) -> dict[str, Callable[[], Any]]:
    """Return what reads the rows of each query, of the scores only success."""
    return {
        SUCCESS: lambda: nearest_success(request, found),
        **timeline_rows(request, found, Window(), ["success"]),
        DECISIONS: lambda: read_rows(request.cursor_of(found.date), DECISIONS, **found.key),
    }


def first_wrong_step(timeline: Timeline, cards: Sequence[DecisionCard]) -> int | None:
    """Return the first step of a run that a wrong decision or a reason names; None without one."""
    own = (None, timeline.run.trajectory_id)
    steps = [reason.step_index for reason in timeline.reasons if reason.step_trajectory_id in own]
    return min((step for step in (*steps, *(card.step for card in cards)) if step is not None),
               default=None)  # fmt: skip


def _run(timeline: Timeline) -> dict[str, Any]:
    run, success = timeline.run, timeline.score("success")
    return without_nothing({
        "id": run.trajectory_id,
        "agent": run.agent_name,
        "release": run.release,
        "task": run.task_id,
        "success": success and success.value,
        "request": clipped(run.user_input or "", CHARACTERS),
        "answer": clipped(run.final_answer or "", CHARACTERS),
        "steps": timeline.total_steps,
        "failed_calls": run.error_count,
    })  # fmt: skip


def _reason(timeline: Timeline, reason: RunReason) -> dict[str, Any]:
    other = reason.step_trajectory_id not in {None, timeline.run.trajectory_id}
    return without_nothing({
        "kind": reason.kind,
        "sentence": clipped(reason.sentence, CHARACTERS),
        "step": reason.step_index,
        "run_of_sub_agent": reason.step_trajectory_id if other else None,
    })  # fmt: skip


def _wrong_step(timeline: Timeline, cards: Sequence[DecisionCard], index: int) -> dict[str, Any]:
    step = next((each for each in timeline.steps if each.step_index == index), None)
    card = next((each for each in cards if each.step == index), None)
    found = {"step": index, **(_step(step) if step else {}), **(_decision(card) if card else {})}
    return without_nothing(found)


def _step(step: Step) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "tool": step.tool_name,
        "arguments": clipped(step.arguments or "", CHARACTERS),
        "returned": clipped(step.result or "", CHARACTERS),
        "status": step.status,
        "error": clipped(step.error or "", CHARACTERS),
        "content": clipped(step.content or "", CHARACTERS),
    }


def _decision(card: DecisionCard) -> dict[str, Any]:
    return {
        "decision": card.name,
        "thought_before": clipped(card.thought, CHARACTERS),
        **_expected(card),
        "wrong_arguments": [
            {"argument": leaf.path, "sent": leaf.sent, "expected": leaf.expected}
            for leaf in card.wrong[:REASONS]
        ],
        "offered_tools": [tool.name for tool in card.offered[:OFFERED]],
        "reason": clipped(card.why, CHARACTERS),
    }


def _expected(card: DecisionCard) -> dict[str, Any]:
    return {
        "expected_tool": card.expected,
        "expected_arguments": clipped(card.expected_arguments, CHARACTERS),
    }


def _call_not_made(card: DecisionCard) -> dict[str, Any]:
    return without_nothing({"decision": card.name, **_expected(card), "reason": card.why})


def _nearest_success(
    request: PageRequest, success: Row | None, timeline: Timeline
) -> dict[str, Any] | None:
    """Return the most similar successful run of the task, and where the two part."""
    if success is None:
        return None
    # Opening its date takes longer than reading these steps alone from the whole lake.
    steps = read_steps(request.cursor_of_lake(), success["trajectory_id"], success["date"])
    pairs = align(steps, timeline.steps)
    parted = next((pair for pair in pairs if pair.differs), None)
    return without_nothing({
        "id": success["trajectory_id"],
        "release": success["release"],
        "likeness": success["likeness"],
        **(dict(_parting(parted)) if parted else {}),
    })  # fmt: skip


def _parting(pair: Pair) -> Iterator[tuple[str, Any]]:
    """Yield how two runs part, and the step of each, A the successful one."""
    yield "parts_by", WORDS[pair.how]
    for name, step in (("step_of_success", pair.first), ("step_of_this_run", pair.second)):
        if step is not None:
            yield name, without_nothing({"step": step.step_index, **_step(step)})
