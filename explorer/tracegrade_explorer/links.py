"""Addresses of pages: names from traces are quoted, so that each leads to exactly one page."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, urlencode

from tracegrade_explorer.filters.grammar import Filter, Range

FORMS: Final = ("json", "csv", "parquet", "html")
"""Possible suffixes of an address; `html` means that a dot in the name is not a suffix."""
LONGEST: Final = 6_000
"""Characters of an address that a page leads to; the guard takes 8,192 bytes."""
INDENT: Final = "indent"
"""Parameter of a step's text: JSON comes on several lines."""


def with_query(path: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return an address with parameters."""
    found = urlencode([*pairs])
    return f"{path}?{found}" if found else path


def filtered(path: str, run_filter: Filter | None) -> str:
    """Return an address with a filter."""
    found = run_filter.query if run_filter else ""
    return f"{path}?{found}" if found else path


def part(name: str) -> str:
    """Return a name as one part of a path.

    A name that looks like a folder or another form of the page gets the suffix `.html`.
    """
    clear = name.strip(".") and not name.endswith(tuple(f".{form}" for form in FORMS))
    return quote(name, safe="") + ("" if clear else ".html")


def run(trajectory_id: str, run_filter: Filter | None = None, step: int | None = None) -> str:
    """Return the address of a run, within a filter, at a step."""
    anchor = f"#s{step}" if step is not None else ""
    return filtered(f"/runs/{part(trajectory_id)}", run_filter and run_filter.runs_alone) + anchor


def step_text(trajectory_id: str, step: int, name: str, *, indent: bool = False) -> str:
    """Return the address of one text of a step: arguments, result or content.

    Args:
        trajectory_id: The run.
        step: Its step.
        name: The text.
        indent: JSON comes on several lines; else as it was sent.
    """
    address = f"/runs/{quote(trajectory_id, safe='')}/steps/{step}/{name}"
    return f"{address}?{INDENT}=1" if indent else address


def of_run(trajectory_id: str, what: str) -> str:
    """Return the address of what belongs to a run: spans, nearest."""
    return f"/runs/{quote(trajectory_id, safe='')}/{what}"


def run_form(trajectory_id: str, form: str) -> str:
    """Return the address of a run for programs: json or csv."""
    return f"/runs/{quote(trajectory_id, safe='')}.{form}"


def runs(run_filter: Filter) -> str:
    """Return the address of the list of a filter's runs."""
    return filtered("/runs", run_filter)


def named(**names: str | None) -> str:
    """Return the address of the list of runs with these names; None is an unknown name."""
    return runs(Filter({key: (name,) for key, name in names.items()}))


def counted(**names: str | None) -> str:
    """Return the address of the list of those runs with these names that count in rates."""
    return runs(Filter({key: (name,) for key, name in names.items()}, counted=True))


def with_findings(**names: str | None) -> str:
    """Return the address of the list of those of them in which something was found."""
    given = {key: (name,) for key, name in names.items()}
    return runs(Filter(given, {"findings": Range(low=1.0)}, counted=True))


def compare(one: str, other: str) -> str:
    """Return the address of two runs side by side."""
    return with_query("/compare", (("a", one), ("b", other)))


def task(task_id: str) -> str:
    """Return the address of a task."""
    return f"/tasks/{part(task_id)}"


def issue(key: str) -> str:
    """Return the address of an issue."""
    return f"/issues/{part(key)}"


def issue_form(key: str, form: str) -> str:
    """Return the address of an issue for programs: json or csv."""
    return f"/issues/{quote(key, safe='')}.{form}"


def alert(alert_id: str) -> str:
    """Return the address of an alert."""
    return f"/alerts/{part(alert_id)}"


def alert_form(alert_id: str, form: str) -> str:
    """Return the address of an alert for programs: json or csv."""
    return f"/alerts/{quote(alert_id, safe='')}.{form}"


def conversation(conversation_id: str) -> str:
    """Return the address of a conversation."""
    return f"/conversations/{part(conversation_id)}"


def saved_query(name: str) -> str:
    """Return the address of a saved query."""
    return f"/sql/{part(name)}"


def conversation_form(conversation_id: str, form: str) -> str:
    """Return the address of a conversation for programs: json or csv."""
    return f"/conversations/{quote(conversation_id, safe='')}.{form}"
