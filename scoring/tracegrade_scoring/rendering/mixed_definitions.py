"""Says that runs were scored by several definitions, so that their scores cannot be compared."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.rendering import words

NAMED: Final = 3
"""Tasks and metrics that a sentence names; the others are counted."""
WAY_OUT: Final = "score all of them alike by `tracegrade score` without a filter"


class MixedDefinition(NamedTuple):
    """A definition whose versions differ between runs."""

    part: str
    """metrics | task | match | metric, as in the query."""
    name: str | None
    """The task, or the user's metric; None for others, and for runs without a task."""
    definitions: tuple[str, ...]
    """Version of the metrics, or hashes; sorted."""


Mixed: TypeAlias = Mapping[tuple[str | None, str | None], tuple[MixedDefinition, ...]]
"""By agent and run mode; agents without a mixture are left out."""


def mixed_by_agent(rows: Iterable[ResultRow]) -> Mixed:
    """Return the rows of `mixed_definitions`, which are sorted, by agent and run mode."""
    agents = groupby(rows, key=lambda row: (row["agent_name"], row["run_mode"]))
    return {agent: mixed_definitions(each) for agent, each in agents}


def mixed_sentences(mixed: Mixed) -> Iterator[str]:
    """Yield for each agent and run mode why scores cannot be compared, and the way out."""
    for agent, definitions in mixed.items():
        yield (
            f"The runs of {words.cohort(*agent)} were scored by several definitions "
            f"({mixture(definitions)}), so their scores cannot be compared; {WAY_OUT}."
        )


def mixed_definitions(rows: Iterable[ResultRow]) -> tuple[MixedDefinition, ...]:
    """Return the rows of `mixed_definitions` of one agent and run mode."""
    return tuple(
        MixedDefinition(row["part"], row["name"], tuple(row["definitions"])) for row in rows
    )


def mixture(mixed: Iterable[MixedDefinition]) -> str:
    """Return what differs between the definitions, as a list in words; '' if nothing does."""
    parts = groupby(mixed, key=lambda each: each.part)
    return "; ".join(text for part, each in parts for text in _texts(part, [*each]))


def _texts(part: str, mixed: list[MixedDefinition]) -> Iterator[str]:
    """Yield what differs in one part."""
    names = [words.name(each.name) for each in mixed if each.name is not None]
    match part:
        case "metrics":
            (each,) = mixed
            yield f"versions {' and '.join(map(words.name, each.definitions))} of the metrics"
        case "task" if names:
            yield (
                f"changed tasks {_named(names)}" if len(names) > 1 else f"changed task {names[0]}"
            )
        case "task":
            yield "changed tools"
        case "match":
            yield "changed rules of how runs find their task"
        case _:
            yield f"changed metrics {_named(names)}"


def _named(names: list[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join([*names[:NAMED], *([f"{rest:,} more"] if rest > 0 else [])])
