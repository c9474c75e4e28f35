"""Describes in words how two runs compare: their steps, and their scores."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tracegrade.terminal.visible import visible_text
from tracegrade_explorer.comparison.align import (
    ARGUMENTS,
    CALLS,
    SAME,
    SIGNS,
    TEXT,
    UNRECORDED,
    WORDS,
    DiffToken,
    Pair,
    word_diff,
)
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalog import main_metrics, more_metrics
from tracegrade_scoring.timeline.model import RunScore, Step, Timeline

MAX_CHARACTERS = 600
NAMED_STATUSES = frozenset({"error", "not_executed", "interrupted"})
"""Statuses of calls that the page names."""


class ScorePair(NamedTuple):
    """One metric of both runs."""

    label: str
    first: str
    second: str
    differs: bool


def pair_rows(
    pairs: Sequence[Pair], named: tuple[bool, bool] = (False, False)
) -> list[dict[str, Any]]:
    """Return the aligned steps as rows of a table.

    Args:
        pairs: The steps.
        named: Whether each run has several agents, so that each step names its agent.
    """
    return [
        {
            "how": pair.how,
            "sign": SIGNS[pair.how],
            "words": WORDS[pair.how],
            "differs": pair.differs,
            "first": pair.first and _side(pair.first, named=named[0]),
            "second": pair.second and _side(pair.second, named=named[1]),
            "diff": _diff(pair),
        }
        for pair in pairs
    ]


def agreement(pairs: Sequence[Pair]) -> str:
    """Return what two runs without a difference are known to have in common."""
    of = {kind: Counter(pair.how for pair in pairs if _is_call(pair) == kind)
          for kind in (True, False)}  # fmt: skip
    calls, texts = of[True], of[False]
    sentence = "Both made the same calls"
    if calls[UNRECORDED]:
        lacking = words.count(calls[UNRECORDED], "call")
        sentence = f"Both called the same tools, but the arguments of {lacking} are not recorded"
    if texts[TEXT]:
        sentence += f"; {words.count(texts[TEXT], 'text')} differ" + "s" * (texts[TEXT] == 1)
    elif texts[SAME]:
        sentence += " and said the same" if set(texts) == {SAME} and not calls[UNRECORDED] else ""
    if texts[UNRECORDED]:
        sentence += f"; what {words.count(texts[UNRECORDED], 'text')} said is not recorded"
    return f"{sentence}."


def _is_call(pair: Pair) -> bool:
    return pair.first is not None and pair.first.kind in CALLS


def _side(step: Step, *, named: bool) -> dict[str, Any]:
    return {
        "index": step.step_index,
        "kind": step.kind.replace("_", " "),
        "title": words.name(step.tool_name or step.role, ""),
        "agent": words.name(step.agent_name, "") if named else "",
        "status": words.name(step.status, "") if step.status in NAMED_STATUSES else "",
        "text": words.clip(visible_text(_text(step)), MAX_CHARACTERS),
    }


def _diff(pair: Pair) -> list[DiffToken]:
    if pair.how not in {ARGUMENTS, TEXT} or pair.first is None or pair.second is None:
        return []
    return word_diff(_text(pair.first), _text(pair.second))


def _text(step: Step) -> str:
    return step.arguments or step.content or ""


def score_pairs(first: Timeline, second: Timeline) -> list[ScorePair]:
    """Return the scores that either run has, those that differ first."""
    found = [*_score_pairs(first, second)]
    return [pair for pair in found if pair.differs] + [pair for pair in found if not pair.differs]


def _score_pairs(first: Timeline, second: Timeline) -> Iterator[ScorePair]:
    names = {score.metric for run in (first, second) for score in run.scores}
    own = {**second.own_metrics, **first.own_metrics}
    for metric in (*main_metrics(names), *more_metrics(names, own)):
        one, other = first.score(metric.name), second.score(metric.name)
        values = [score.value if score else None for score in (one, other)]
        if values != [None, None]:
            value, beside = (_value(score, metric) for score in (one, other))
            yield ScorePair(metric.label, value, beside, differs=values[0] != values[1])


def _value(score: RunScore | None, metric: Metric) -> str:
    if score is None or score.value is None:
        return words.NOTHING
    if metric.unit == "runs":
        return "yes" if score.value else "no"
    return words.amount(score.value, metric.scale)
