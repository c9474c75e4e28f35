"""What is recorded of objects at a kill and after recovery."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_harness.trial.object_states import MAX_LOG_BYTES, cut_log, log_end, object_states

STATES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("123"))


@given(STATES, STATES, STATES)
def test_each_object_that_differed_once_is_recorded(
    before: dict[str, str], killed: dict[str, str], recovered: dict[str, str]
) -> None:
    """With how it was before, and how it differed at each moment; all others are left out."""
    found = {row["object"]: row for row in object_states(before, killed, recovered)}

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
