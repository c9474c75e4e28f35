"""Objects at each moment of a kill, and the recovery's log, as `harness_trials` has them."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.part import ShowsContent
from tracegrade_harness.parts.state import State

MAX_LOG_BYTES: Final = 16_384
"""A longer output of a recovery command loses its beginning."""
MAX_TEXT_BYTES: Final = 16_384
"""A longer content of an object is not recorded."""
MAX_MOMENT_BYTES: Final = 131_072
"""Contents of all objects of a kill at one moment."""
MAX_FORM_CHARS: Final = 200
READ_LOG_BYTES: Final = 2 * MAX_LOG_BYTES
"""Redaction needs what precedes a secret, so the log is cut to size after it."""


class ObservedObjects(NamedTuple):
    """All objects at one moment, and the texts of those that differ from before the run."""

    state: State
    texts: Mapping[str, str] = {}


class ObjectHistory:
    """The objects of a killed run: before it, after the kill, and after recovery."""

    def __init__(self, before: State, template: ShowsContent, environment: ShowsContent) -> None:
        """Observe nothing yet.

        Args:
            before: The state before the run.
            template: Has the contents before the run.
            environment: Has the contents at the time.
        """
        self._before = before
        self._template = template
        self._environment = environment
        self._moments: list[ObservedObjects] = []
        self._differing: set[str] = set()

    def observe(self, now: State) -> None:
        """Read the texts of objects that differ, or have differed, from before the run."""
        self._differing |= changes_by_name(self._before, now).keys()
        there = sorted(self._differing & now.keys())
        self._moments.append(ObservedObjects(now, read_texts(self._environment, there)))

    def states(self) -> list[dict[str, Any]]:
        """Return the states of objects at the two moments that were observed."""
        killed, recovered = self._moments
        texts = read_texts(self._template, sorted(self._differing))
        return object_states(ObservedObjects(self._before, texts), killed, recovered)


def object_states(
    before: ObservedObjects, killed: ObservedObjects, recovered: ObservedObjects
) -> list[dict[str, Any]]:
    """Return the objects that a killed run changed, at the kill or after recovery; by name.

    Args:
        before: Before the run.
        killed: After the kill.
        recovered: After the recovery command; without one, later.
    """
    at_kill = changes_by_name(before.state, killed.state)
    after = changes_by_name(before.state, recovered.state)
    moments = {"before": before, "killed": killed, "recovered": recovered}
    return [
        {
            "object": name,
            "before": "present" if name in before.state else "absent",
            "killed": at_kill.get(name, "same"),
            "recovered": after.get(name, "same"),
            **_forms(name, moments),
            **_texts(name, moments),
        }
        for name in sorted(at_kill.keys() | after.keys())
    ]


def _forms(name: str, moments: Mapping[str, ObservedObjects]) -> dict[str, Any]:
    """Return the kind and permissions of a file at each moment, if they changed."""
    found = {
        moment: digest.rpartition(" ")[0] if digest.startswith("file ") else digest
        for moment, each in moments.items()
        if " " in (digest := each.state.get(name, ""))
    }
    if len({*found.values()}) < 2:
        return {}
    return {"forms": {moment: form[:MAX_FORM_CHARS] for moment, form in found.items()}}


def _texts(name: str, moments: Mapping[str, ObservedObjects]) -> dict[str, Any]:
    """Return the texts of an object at moments at which it differed, and before."""
    before = moments["before"]
    found = {
        moment: each.texts[name]
        for moment, each in moments.items()
        if name in each.texts
        and (each is before or each.state.get(name) != before.state.get(name))
    }
    return {"texts": found} if found else {}


def read_texts(source: ShowsContent, names: Collection[str]) -> dict[str, str]:
    """Return the texts of objects that are small enough; bytes that are not text are left out."""
    found: dict[str, str] = {}
    room = MAX_MOMENT_BYTES
    for name, content in source.contents(names, MAX_TEXT_BYTES):
        text = _as_text(content) if len(content) <= room else None
        if text is not None:
            found[name] = text
            room -= len(content)
    return found


def _as_text(content: bytes) -> str | None:
    """Return a content as text; None if it is none."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


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
