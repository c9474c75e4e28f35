"""The page of relations: graphs of the relations that each one is made from."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from docgen.relations import PACKAGES, Package, Relation

INTRODUCTION: Final = """\
# Relations

The relations between received spans and scores, and the sources of each. `make docs` draws this
page from the code. A relation declares its sources in the header of its SQL file (`Reads:`), in
the decorator of the Python function that makes it (`@relation`), or in the docstring of its module
(`Makes:`). `tests/test_relations.py` checks these declarations.

A graph shows one folder, from left to right. An arrow leads from a source to the relation that
reads it.

```mermaid
flowchart LR
  elsewhere(["folder<br/>its relations that are read"]) --> query
  lake[("lake<br/>tables")] --> query[made by the SQL file of this name]
  query --> python{{made by Python}}
  python --> read[read by other folders]:::result
  classDef result stroke-width:3px
```

The first graph of a chapter shows its folders; a number on an arrow counts the relations that a
folder reads from another. Tables of the lake, which most folders read, are left out there.

To trace a value to its sources, start at its relation and follow the arrows backward. If an arrow
comes from another folder, continue in that folder's graph. The header of a relation's file
explains its columns; [tables.md](tables.md) explains those of the tables.
"""
LAKE: Final = "lake"
"""The source of the tables, and of the views that every connection has of them."""
ROOMS: Final[Mapping[str, Mapping[str, str]]] = {
    "queries": {
        "build": "New traces, and the bucket in which each is built.",
        "steps/received": "Spans of a bucket, each once and whole, and their events.",
        "steps/spans": "The spans of a bucket as the dialects read them.",
        "steps/runs": "The run (trajectory) of each operation, and the runs themselves.",
        "steps/copies": "Repeated records: replays, copies, polls; and the runs of replays.",
        "steps/model_calls": "Model calls, one row for all spans of a call, and their messages.",
        "steps/model_calls/text_forms": "Texts in the form of a framework, split into parts.",
        "steps/tool_calls": "Tool calls that models requested, and their executions.",
        "steps/step_rows": "The steps of each kind, put in order.",
        "steps/agents": "The agents of runs with several, and the agent of each step.",
        "steps/labels": "Attributes of resources and spans that runs keep as labels.",
        "costs": "Costs of runs.",
        "dimensions": "Release, agent, task and other dimensions of runs, read from labels.",
        "exports": "Runs and their steps as they are exported.",
        "engine": "The verdicts that count, for all readers of a lake.",
    },
    "scoring": {
        "tasks": "Task files as relations, and drafts of them.",
        "attempts": "Attempts, their plans, the task of each and whether it succeeded.",
        "attempts/calls": "Calls of an attempt, in order, and the calls that failed.",
        "attempts/criteria": "Success criteria that hold, and the first step at which they hold.",
        "attempts/endings": "Attempts that did not end by themselves: a limit, an error, no end.",
        "scorers/tool_selection": "Decision points and the tools picked at them.",
        "scorers/tool_correctness": "Calls compared with the expected calls.",
        "scorers/step_efficiency": "Numbers of steps of attempts.",
        "scorers/plan_graph": "Sub-goals that were attempted and completed.",
        "scorers/own_plan": "Share of its own first plan that an attempt carried out.",
        "scorers/replanning": "Changes of plans, and their reasons.",
        "scorers/planning": "Quality of the plan before the first call.",
        "scorers/conduct": "Repeats, recovery from failures, and how attempts end.",
        "scorers/failure_modes": "Ways in which attempts fail.",
        "scorers/run_reasons": "Why attempts failed, in an order of precedence.",
        "scorers/rollback": "State that remains after an agent is killed.",
        "own_metrics": "Scores of users' own metrics, checked against their declarations.",
        "own_metrics/readable": "Relations that users' own metrics may read.",
        "job": "Trajectories to score, and the rows that the run writes.",
        "statistics": "Sums over the attempts of a release.",
        "status": "Why runs wait to be scored.",
        "report": "The rows of a report.",
        "rendering": "Users' own metrics in reports, comparisons and runs.",
        "issues": "Issues, and how many runs of each release showed them.",
        "timeline": "One run, step by step.",
        "timeline/cards": "Decisions and agents of a run, on the cards of its page.",
        "compare": "Two releases, side by side.",
    },
}
"""The folders that have a graph, with a description of each.

Saved queries have no graph, since none reads another. Dialects have none either: their relations
are private.
"""


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    parts = [INTRODUCTION]
    for title, rooms in ROOMS.items():
        drawing = Drawing(PACKAGES[title])
        parts.append(f"## {title.capitalize()}\n\n{_fenced(drawing.whole(rooms))}")
        for room, meaning in rooms.items():
            parts.append(f"### {room}\n\n{meaning}\n\n{_fenced(drawing.room(room))}")
    return {"relations.md": "\n".join(parts)}


def _fenced(lines: Iterable[str]) -> str:
    return "\n".join(["```mermaid", "flowchart LR", *(f"  {line}" for line in lines), "```", ""])


class Drawing:
    """The graphs of one package."""

    def __init__(self, package: Package) -> None:
        """Sort its relations into rooms: the folders of their files."""
        self._package = package
        self._rooms = {
            relation.name: _room_of(relation, package) for relation in package.relations
        }

    def whole(self, rooms: Collection[str]) -> Iterator[str]:
        """Yield the lines of the graph of these rooms, with the number of relations each reads."""
        reads = Counter(
            (source, room)
            for room in rooms
            for source, names in self._read_by_room(room).items()
            if source in rooms
            for _ in names
        )
        yield from (f"{_id(room)}[{room}]" for room in rooms)
        for (source, room), times in sorted(reads.items()):
            yield f"{_id(source)} -->|{times}| {_id(room)}"

    def room(self, room: str) -> Iterator[str]:
        """Yield the lines of the graph of one room."""
        own = {relation.name: relation for relation in self._package.relations}
        own = {name: relation for name, relation in own.items() if self._rooms[name] == room}
        for source, names in sorted(self._read_by_room(room).items()):
            shape = '[("{}")]' if source == LAKE else '(["{}"])'
            yield _id(source) + shape.format("<br/>".join([f"<b>{source}</b>", *sorted(names)]))
        outside = self._read_outside(room)
        for name, relation in own.items():
            shape = "{{%s}}" if relation.path.suffix == ".py" else "[%s]"
            yield _id(name) + shape % name + (":::result" if name in outside else "")
        for name, relation in own.items():
            sources = {
                _id(each) if each in own else _id(self._room(each)) for each in relation.reads
            }
            yield from (f"{source} --> {_id(name)}" for source in sorted(sources))
        yield "classDef result stroke-width:3px"

    def _room(self, name: str) -> str:
        is_of_lake = name in self._package.tables | self._package.below
        return LAKE if is_of_lake else self._rooms[name]

    def _read_by_room(self, room: str) -> dict[str, set[str]]:
        """Return the relations that a room reads from other rooms, by room."""
        found: dict[str, set[str]] = defaultdict(set)
        for relation in self._package.relations:
            if self._rooms[relation.name] == room:
                for name in relation.reads:
                    if self._room(name) != room:
                        found[self._room(name)].add(name)
        return found

    def _read_outside(self, room: str) -> set[str]:
        others = (each for each in self._package.relations if self._rooms[each.name] != room)
        return {name for relation in others for name in relation.reads}


def _room_of(relation: Relation, package: Package) -> str:
    """Return a relation's folder; that of its source if Python makes it between others."""
    folder = relation.folder.relative_to(package.queries.root).as_posix()
    paths = package.queries.paths
    sources = [paths[name] for name in sorted(relation.reads) if name in paths]
    if folder == "build" and relation.path.suffix == ".py" and sources:
        folder = sources[0].parent.relative_to(package.queries.root).as_posix()
    return folder.removesuffix("/queries")


def _id(name: str) -> str:
    return name.replace("/", "_") + "_"
