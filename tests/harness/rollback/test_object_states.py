"""What is recorded of objects at a kill and after recovery."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_harness.trial.object_states import (
    MAX_LOG_BYTES,
    MAX_MOMENT_BYTES,
    MAX_TEXT_BYTES,
    ObservedObjects,
    cut_log,
    log_end,
    object_states,
    read_texts,
)

STATES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("123"))


@given(STATES, STATES, STATES)
def test_each_object_that_differed_once_is_recorded(
    before: dict[str, str], killed: dict[str, str], recovered: dict[str, str]
) -> None:
    """With how it was before, and how it differed at each moment; all others are left out."""
    found = {
        row["object"]: row
        for row in object_states(*map(ObservedObjects, (before, killed, recovered)))
    }

    assert found.keys() == {
        name for name in "abcdef"
        if not before.get(name) == killed.get(name) == recovered.get(name)
    }  # fmt: skip
    for name, row in found.items():
        assert row["before"] == ("present" if name in before else "absent")
        assert (row["killed"] == "same") == (before.get(name) == killed.get(name))
        assert (row["recovered"] == "same") == (before.get(name) == recovered.get(name))
        assert (row["recovered"] == "removed") == (name in before and name not in recovered)


def test_log_keeps_its_end(tmp_path: Path) -> None:
    """A long log is cut at its beginning, a log of other bytes is text, no log is none."""
    log = tmp_path / "recovery.log"
    missing = log_end(log)
    log.write_bytes(b"")
    empty = log_end(log)
    log.write_bytes(b"x" * MAX_LOG_BYTES + b"\xff the end")

    end = cut_log(log_end(log) or "")
    assert (missing, empty) == (None, None)
    assert end.endswith("the end")
    assert len(end.encode()) == MAX_LOG_BYTES


class Contents(NamedTuple):
    """Objects with content."""

    found: dict[str, bytes]

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents that are small enough."""
        for name in names:
            content = self.found.get(name)
            if content is not None and len(content) <= most_bytes:
                yield name, content


def test_only_small_texts_are_recorded() -> None:
    """Neither bytes of other kinds, nor a file that nobody reads on a page."""
    objects = Contents({
        "text": "ä\n".encode(), "large": b"x" * (MAX_TEXT_BYTES + 1), "bytes": b"\xff",
        "zero": b"a\0b", "empty": b"",
    })  # fmt: skip
    assert read_texts(objects, [*objects.found, "gone"]) == {"text": "ä\n", "empty": ""}


@given(st.lists(st.integers(0, MAX_TEXT_BYTES), max_size=40))
def test_texts_of_a_moment_have_a_limit(sizes: list[int]) -> None:
    """However many objects a run leaves, their texts together are bounded."""
    objects = Contents({str(place): b"x" * size for place, size in enumerate(sizes)})
    found = read_texts(objects, objects.found)

    assert sum(map(len, found.values())) <= MAX_MOMENT_BYTES
    if sum(sizes) <= MAX_MOMENT_BYTES - MAX_TEXT_BYTES:
        assert len(found) == len(sizes)


def test_change_of_permissions_is_recorded() -> None:
    """Also if the content is the same; the digest of a content is not."""
    (row,) = object_states(
        ObservedObjects({"a": "file 0644 12ab"}, {"a": "x"}),
        ObservedObjects({"a": "file 0600 12ab"}, {"a": "x"}),
        ObservedObjects({"a": "file 0644 12ab"}, {"a": "x"}),
    )
    assert row["forms"] == {"before": "file 0644", "killed": "file 0600", "recovered": "file 0644"}
    assert row["texts"] == {"before": "x", "killed": "x"}
