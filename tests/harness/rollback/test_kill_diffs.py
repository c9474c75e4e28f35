"""The diff of an object's text before and after a kill."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_harness.kills.diffs import (
    ADDED,
    BY_RECOVERY,
    BY_RUN,
    MOST_LINES,
    REMOVED,
    object_diffs,
    text_diff,
)
from tracegrade_harness.kills.read import KilledObject

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d "]), max_size=30).map("\n".join)


@given(TEXTS, TEXTS)
def test_diff_accounts_for_each_line(before: str, after: str) -> None:
    """What was added less what was removed is the difference of the two texts, line by line."""
    found = text_diff(BY_RUN, before, after).lines
    change = Counter(after.splitlines())
    change.subtract(before.splitlines())
    shown = Counter(line.text for line in found if line.sign == ADDED)
    shown.subtract(line.text for line in found if line.sign == REMOVED)

    assert +change == +shown
    assert -change == -shown


def test_long_text_is_compared_in_part() -> None:
    """A text of many equal short lines costs no time, and the rest is counted."""
    lines = [f"{place % 100}" for place in range(8_000)]
    found = text_diff(BY_RUN, "\n".join(lines), "\n".join(reversed(lines)))

    assert found.more == 2 * (8_000 - MOST_LINES)
    assert 0 < len(found.lines) <= 2 * MOST_LINES


def killed(**fields: str | bool | None) -> KilledObject:
    """Return an object that was there and stays changed, but for what is given."""
    given: dict[str, str | bool | None] = {
        "name": "files:data/a", "before": "present", "killed": "changed", "recovered": "changed",
        "left": True, "named_by": None, "disproved": None, **fields,
    }  # fmt: skip
    return KilledObject(**given)  # type: ignore[arg-type]


def test_each_moment_is_compared_with_the_one_before() -> None:
    """A new object has only new lines; what recovery put right is not shown again."""
    changed = killed(text_before="1", text_killed="2", text_recovered="3")
    new = killed(before="absent", killed="added", text_killed="1\n2", text_recovered="1\n2")
    gone = killed(killed="removed", recovered="removed", text_before="1")
    put_right = killed(text_before="1", text_killed="2", recovered="same", left=False)
    by_recovery = killed(killed="same", text_before="1", text_recovered="2")

    def shown(each: KilledObject) -> list[tuple[str, list[str]]]:
        return [
            (diff.by, [line.sign + line.text for line in diff.lines])
            for diff in object_diffs(each)
        ]

    assert shown(changed) == [
        (BY_RUN, [f"{REMOVED}1", "+2"]), (BY_RECOVERY, [f"{REMOVED}2", "+3"]),
    ]  # fmt: skip
    assert shown(new) == [(BY_RUN, ["+1", "+2"])]
    assert shown(gone) == [(BY_RUN, [f"{REMOVED}1"])]
    assert shown(put_right) == [(BY_RUN, [f"{REMOVED}1", "+2"])]
    assert shown(by_recovery) == [(BY_RECOVERY, [f"{REMOVED}1", "+2"])]


def test_unknown_text_is_not_compared() -> None:
    """A lake of an earlier version, and files that are not text, show no diff."""
    assert [*object_diffs(killed())] == []
    assert [*object_diffs(killed(text_killed="1"))] == []
    assert [*object_diffs(killed(killed=None, before=None, text_recovered=None))] == []
