"""The plans of a run, and the changes of each to the one before. Pure."""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

MOST_ITEMS: Final = 200
"""Steps read of one plan."""


class PlanItem(NamedTuple):
    """One step of a plan."""

    key: str
    """Its id, else its text."""
    text: str
    status: str
    """'' if none is declared."""
    tool: str = ""
    """The tool that it names; '' if it names none."""
    effect: str = ""
    """The state that it declares; '' if none."""


class PlanChange(NamedTuple):
    """One plan, compared with the one before."""

    step_index: int
    items: tuple[PlanItem, ...]
    added: tuple[PlanItem, ...]
    """All, of the first plan."""
    removed: tuple[PlanItem, ...]
    restated: tuple[tuple[PlanItem, PlanItem], ...]
    """Before and after, of steps with another status or text."""


def plan_changes(plans: Iterable[tuple[int, str]]) -> list[PlanChange]:
    """Return the plans in order, each with its changes.

    Args:
        plans: Index of the step that declares each plan, and the plan in JSON. JSON that is not a
            list is left out.
    """
    read = [(index, items) for index, text in plans if (items := tuple(_items(text)))]
    if not read:
        return []
    first = PlanChange(*read[0], read[0][1], (), ())
    return [first, *(_change(*pair) for pair in pairwise(read))]


def _change(
    before: tuple[int, tuple[PlanItem, ...]], after: tuple[int, tuple[PlanItem, ...]]
) -> PlanChange:
    old = {item.key: item for item in before[1]}
    new = {item.key: item for item in after[1]}
    return PlanChange(
        *after,
        tuple(item for key, item in new.items() if key not in old),
        tuple(item for key, item in old.items() if key not in new),
        tuple(
            (old[key], item)
            for key, item in new.items()
            if key in old and old[key][:3] != item[:3]
        ),
    )


def _items(text: str) -> Iterator[PlanItem]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(found, list):
        yield from (_item(each) for each in found[:MOST_ITEMS])


def _item(given: Any) -> PlanItem:
    if not isinstance(given, dict):
        return PlanItem(str(given), str(given), "")
    text = _text(given, "text", "content", "step", "title", "id")
    return PlanItem(
        _text(given, "id") or text, text, _text(given, "status"), _text(given, "tool"),
        _text(given, "effect"),
    )  # fmt: skip


def _text(given: dict[str, Any], *keys: str) -> str:
    return next((str(given[key]) for key in keys if given.get(key) not in (None, "")), "")
