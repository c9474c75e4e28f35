"""A part of an imported file, which every format yields: a request, verdicts or a fault."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import ExportRequest, Rejection, Signal
from tracegrade_collector.importing.run_addresses import RunAddress

NONE: Final[Mapping[str, int]] = MappingProxyType({})


class ImportPart(NamedTuple):
    """A piece of a file that was read at once, or its fault."""

    location: str
    """`file`, or `file:line`."""

    signal: Signal | None = None
    request: ExportRequest | None = None
    """Without the items that were rejected; NULL if there is a fault."""

    rejections: Sequence[Rejection] = ()
    fault: str | None = None
    is_repaired: bool = False
    """Whether values of the request may have characters for those that could not be read."""

    verdicts: Sequence[Mapping[str, Any]] = ()
    """Rows for the table of verdicts."""

    address: RunAddress | None = None
    """Where the verdicts name their run by task and trial; their `trajectory_id` is then NULL."""

    understood: Mapping[str, int] = NONE
    """Counts of understood content by kind: `tool calls`."""

    ignored: Mapping[str, int] = NONE
    """Counts of content that was not understood, by kind: `content blocks of type 'image'`."""

    notes: Sequence[str] = ()
    """Doubts about the content, one line each; these are not faults."""

    recognized: str | None = None
    """The file's format and why it is that one, on its first part; None if it was given."""

    unnamed_runs: int = 0
    """Runs that name neither an agent nor a release."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files."""

    format: str = "auto"
    """A name of `formats.NAMES`."""

    paths: Mapping[str, str] = field(default_factory=dict)
    """`--map`: the path of each field that is not where tools usually write it."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """`--role`: assistant, user, system or tool by the name that chats have for it."""

    plan_marker: Any = None
    """`--plan-marker`: RE2, compiled; found where a plan begins in a text of the model."""

    code_calls: bool = False
    """`--code-calls`: fenced code with a reply is a call."""

    code_languages: Collection[str] = ()
    """`--code-language`: languages whose code is a call; empty: all languages that are run."""

    allow_partial: bool = False
    """`--allow-partial`: runs most of whose messages are not understood are imported too."""

    def of_chats(self) -> list[str]:
        """Return the given options that apply only to chats."""
        given = {
            "--role": bool(self.roles),
            "--plan-marker": self.plan_marker is not None,
            "--code-calls": self.code_calls and not self.code_languages,
            "--code-language": bool(self.code_languages),
            "--allow-partial": self.allow_partial,
        }
        return [option for option, is_given in given.items() if is_given]
