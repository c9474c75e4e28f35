"""The steps of one declared plan, and which steps of two plans are the same.

Pure, and called once for each distinct pair of plans: matching needs an order of preference and a
greedy part, which are awkward in SQL.

Source: docs/metrics.md, section 4.6. [Plan graph] compares whole lists; so any
rewording and each finished step that is popped counted there as a new plan.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import orjson

from tracegrade_queries.build.nesting import is_too_deep

MAX_STEPS = 1000  # steps beyond are not read; comparing two plans takes the square of this

MAX_WORDS = 100  # words of a step beyond are not compared

SIMILAR = 0.5  # least token Jaccard at which two texts are one step, reworded

OPEN_STATUSES = frozenset({"pending", "todo", "to do", "open", "planned", "not started"})
FINISHED_STATUSES = frozenset({"completed", "complete", "done", "finished"})
CANCELLED_STATUSES = frozenset({"cancelled", "canceled", "skipped"})
# The names of the text of a step: our own spans first, then the todo tools of others.
TEXT_KEYS = ("text", "content", "step", "title", "description")
LIST_KEYS = ("plan", "todos", "steps", "items")

_NUMBERING = re.compile(
    r"^\s*(?:(?:[-*•]|\[[ x]?\]|(?:step\s+)?\d+(?:\.\d+)*[.):]|step\s+\d+|[a-z][.)])\s*)+"
)
_PUNCTUATION = re.compile(r"[^\w\s]+")
_BETWEEN_WORDS = re.compile(r"[\s_-]+")


@dataclass(frozen=True)
class PlanStep:
    """One step of a plan, as far as matching needs it; it is compared with many others."""

    id: str | None
    wording: str
    """As the plan has it; empty where it gives no text."""
    tool: str | None
    status: str | None
    """Case-folded, with blanks between words; None where the plan does not mark this step."""
    otherwise: str = ""
    """What it is compared by, as a whole, where it has no words: its tool, else all it says."""

    @cached_property
    def text(self) -> str:
        """Case-folded, without numbering and punctuation: what plans are compared by."""
        return normal_text(self.wording) or self.otherwise

    @cached_property
    def words(self) -> frozenset[str]:
        """The distinct words of the text, as far as they are compared."""
        return frozenset(normal_text(self.wording).split()[:MAX_WORDS])


def read_plan(plan: str) -> tuple[PlanStep, ...]:
    """Return the steps of a plan in order, without cancelled ones.

    Args:
        plan: As declared: a JSON list, an object that holds one (as todo tools take it), or text
            with one step per line. If some lines are numbered or bulleted, only those count.
    """
    steps = (_read_step(item) for item in _items(plan)[:MAX_STEPS])
    return tuple(step for step in steps if step.status not in CANCELLED_STATUSES)


def read_json(text: str, otherwise: object = None) -> Any:
    """Return the value of a JSON text; something else for no JSON, or of too many levels."""
    if is_too_deep(text):
        return otherwise
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return otherwise


def text_of(item: Mapping[str, object]) -> str:
    """Return the text of a step of a structured plan; empty where it has none."""
    for key in TEXT_KEYS:
        if isinstance(text := item.get(key), str):
            return text
    return ""


def normal_text(text: str) -> str:
    """Return the text case-folded, without numbering and punctuation, one blank between words."""
    return " ".join(_PUNCTUATION.sub(" ", _NUMBERING.sub("", text.casefold())).split())


def is_marked(steps: Sequence[PlanStep]) -> bool:
    """Return whether any step of the plan has a status."""
    return any(step.status is not None for step in steps)


def is_finished(step: PlanStep) -> bool:
    """Return whether the plan marks the step as completed."""
    return step.status in FINISHED_STATUSES


def matches(before: Sequence[PlanStep], after: Sequence[PlanStep]) -> dict[int, int]:
    """Return for positions in `before` the position of the same step in `after`; each used once.

    Steps match by id, else by equal text, else greedily by token Jaccard of at least 0.5; ties go
    by position. Among equal steps, finished steps match finished steps first. A step that `before`
    marks as completed is not matched by similarity: a step that resembles finished work is new
    work.
    """
    pairs: dict[int, int] = {}
    _match_equal(pairs, before, after, attrgetter("id"))
    _match_equal(pairs, before, after, attrgetter("text"))
    _match_similar(pairs, before, after)
    return pairs


def _items(plan: str) -> Sequence[object]:
    value = read_json(plan, plan)
    if isinstance(value, dict):
        lists = (value[key] for key in LIST_KEYS if isinstance(value.get(key), list))
        value = next(lists, [value])
    if isinstance(value, str):
        lines = [line for line in value.splitlines() if line.strip()]
        return [line for line in lines if _NUMBERING.match(line.casefold())] or lines
    return value if isinstance(value, list) else []


def _read_step(item: object) -> PlanStep:
    if not isinstance(item, dict):
        return PlanStep(None, str(item), None, None, str(item))
    get = item.get
    status = _BETWEEN_WORDS.sub(" ", (_text(get("status")) or "").casefold()).strip()
    found = PlanStep(_text(get("id")), text_of(item), _text(get("tool")), status or None)
    if found.id is not None or normal_text(found.wording):
        return found
    return replace(found, otherwise=found.wording or found.tool or _unmarked(item))


def _unmarked(item: Mapping[str, object]) -> str:
    """Return all that a step says but how far it is."""
    rest = {key: value for key, value in item.items() if key != "status"}
    return orjson.dumps(rest, option=orjson.OPT_SORT_KEYS).decode()


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _match_equal(
    pairs: dict[int, int],
    before: Sequence[PlanStep],
    after: Sequence[PlanStep],
    key: Callable[[PlanStep], str | None],
) -> None:
    """Add pairs of equal keys among the positions still free, the first with the first.

    Finished steps are found among finished ones, and elsewhere only among what no other step is.
    """
    old_finished = [i for i, step in enumerate(before) if is_finished(step)]
    old_open = [i for i, step in enumerate(before) if not is_finished(step)]
    new_finished = [j for j, step in enumerate(after) if is_finished(step)]
    for old, new in (
        (old_finished, new_finished),
        (old_open, range(len(after))),
        (old_finished, range(len(after))),
    ):
        taken = set(pairs.values())
        free: dict[str | None, list[int]] = defaultdict(list)
        for j in new:
            if j not in taken:
                free[key(after[j])].append(j)
        for i in old:
            if i not in pairs and (same := key(before[i])) and free[same]:
                pairs[i] = free[same].pop(0)


def _match_similar(
    pairs: dict[int, int], before: Sequence[PlanStep], after: Sequence[PlanStep]
) -> None:
    """Add pairs of similar texts among the positions still free, most similar first."""
    taken = set(pairs.values())
    words = {j: step.words for j, step in enumerate(after) if j not in taken}
    candidates = sorted(
        (-similarity, i, j)
        for i, step in enumerate(before)
        if i not in pairs and not is_finished(step)
        for j, similarity in _likenesses(step.words, words)
        if similarity >= SIMILAR
    )
    for _, i, j in candidates:
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)


def _likenesses(
    words: frozenset[str], others: Mapping[int, frozenset[str]]
) -> Iterator[tuple[int, float]]:
    """Yield the share of distinct words in common (token Jaccard) with each of the others."""
    for j, other in others.items():
        common = len(words & other)
        if common:
            yield j, common / (len(words) + len(other) - common)
