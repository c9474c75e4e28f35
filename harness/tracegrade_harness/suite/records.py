"""Sources of undo instructions that a suite declares: an agent's files, a runbook, the lake."""

from typing import Annotated, Any, Literal

from pydantic import Tag

from tracegrade_harness.suite.strict import Name, Strict, by_key


class Journal(Strict):
    """JSON Lines that an agent writes as it works: `{"object": …, "undo": {…}, "done": false}`."""

    journal: Name
    """Path in the environment; an incomplete last line names nothing."""


class Manifest(Strict):
    """A JSON document that lists what an agent made."""

    manifest: Name
    """Path in the environment."""
    items: Name
    """JSON path to the list, such as `$.files`."""
    object: Name
    """The object that an item is. `{name}` is replaced by the item's key `name`, or by the item.
    """
    undo: dict[str, Any]
    """The undo, see `rollback/undo.py`; `{name}` as in `object`."""


class Runbook(Strict):
    """A YAML file in the suite's folder, written before the run: pattern of objects → undo."""

    runbook: Name
    """Path of the file. A pattern names new objects, one object by its name, or one collection."""


class LakeRecord(Strict):
    """Spans of the killed run in the lake; they count only if a suite declares them."""

    lake: Literal["plan"]
    """`plan`: the run's plans. The `outputs` of a step are objects, or their paths. Its `rollback`
    tells how to undo them: an undo, or a text for a human."""


Record = Annotated[
    Annotated[Journal, Tag("[journal]")]
    | Annotated[Manifest, Tag("[manifest]")]
    | Annotated[Runbook, Tag("[runbook]")]
    | Annotated[LakeRecord, Tag("[lake]")],
    by_key("journal", "manifest", "runbook", "lake"),
]
