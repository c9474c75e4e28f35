"""Objects at each moment of a kill, and the recovery's log, as `harness_trials` has them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.state import State

MAX_LOG_BYTES: Final = 16_384
"""A longer output of a recovery command loses its beginning."""
READ_LOG_BYTES: Final = 2 * MAX_LOG_BYTES
"""Redaction needs what precedes a secret, so the log is cut to size after it."""


def object_states(before: State, killed: State, recovered: State) -> list[dict[str, Any]]:
    """Return the objects that a killed run changed, at the kill or after recovery; by name.

    Args:
        before: Before the run.
        killed: After the kill.
        recovered: After the recovery command; without one, later.
    """
    at_kill, after = changes_by_name(before, killed), changes_by_name(before, recovered)
    return [
        {
            "object": name,
            "before": "present" if name in before else "absent",
            "killed": at_kill.get(name, "same"),
            "recovered": after.get(name, "same"),
        }
        for name in sorted(at_kill.keys() | after.keys())
    ]


def changes_by_name(before: State, now: State) -> Mapping[str, str]:
    """Return by object how it differs: added, changed or removed."""
    difference = diff(before, now)._asdict()
    return {name: change for change, names in difference.items() for name in names}


def log_end(file: Path) -> str | None:
    """Return the end of a program's output, longer than `cut_log` leaves it; None without any."""
    if not file.is_file():
        return None
    with file.open("rb") as log:
        log.seek(0, 2)
        log.seek(max(log.tell() - READ_LOG_BYTES, 0))
        return log.read().decode("utf-8", "replace") or None


def cut_log(text: str) -> str:
    """Return the end of a redacted log."""
    return text.encode()[-MAX_LOG_BYTES:].decode("utf-8", "ignore")
