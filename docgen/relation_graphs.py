"""The page of relations: graphs of which is made from which."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from docgen.relations import PACKAGES, Package, Relation

INTRODUCTION: Final = """\
# Relations

What is made from what, from received spans to scores. `make docs` draws this page from the code:
what a relation reads stands in the header of its SQL file (`Reads:`), beside the name of the
function of Python that makes it (`@relation`), or in the docstring of its module (`Makes:`).
`tests/test_relations.py` sees that this is true.

How to read a graph: it shows one folder, from left to right. An arrow leads from what is read to
what is made of it.

```mermaid
flowchart LR
  elsewhere(["folder<br/>what is read of it"]) --> query
  lake[("lake<br/>tables")] --> query[made by the SQL file of this name]
  query --> python{{made by Python}}
  python --> read[read by other folders]:::result
  classDef result stroke-width:3px
```

The first graph of a chapter shows its folders, with how many relations each reads of another;
tables of the lake, which most of them read, are left out there.

To find out what a value comes from, start at its relation and go against the arrows; where an
arrow comes from another folder, go on in that folder's graph. What one relation means, column by
column, stands in the header of its file, and for tables in [tables.md](tables.md).
"""
LAKE: Final = "lake"
"""Where the tables stand, and the views that every connection has of them."""
ROOMS: Final[Mapping[str, Mapping[str, str]]] = {
    "queries": {
        "build": "Which traces are new, and the bucket that each is built in.",
        "steps/received": "Spans of a bucket, each once and whole, and events beside them.",
        "steps/spans": "What the dialects say of the spans of a bucket.",
        "steps/runs": "Which run (trajectory) each operation belongs to, and what a run is.",
        "steps/copies": "What is recorded again: replays, copies, polls; and the runs of replays.",
        "steps/model_calls": "Spans that record one model call are one row; what was said in it.",
        "steps/model_calls/text_forms": "Texts in the form of a framework, taken apart.",
        "steps/tool_calls": "What models asked for, and who executed it.",
        "steps/step_rows": "The steps of each kind, put in order.",
        "costs": "What runs cost.",
        "engine": "Which verdicts count, for all who read a lake.",
    },
    "scoring": {
        "tasks": "Task files as relations, and drafts of them.",
        "attempts": "Attempts, their plans, the task of each and whether it succeeded.",
        "attempts/calls": "Which steps are calls of an attempt, in which order, and which failed.",
        "attempts/criteria": "Which success criteria hold, and since when.",
        "attempts/endings": "Which attempts did not end by themselves: a limit, an error, no end.",
        "scorers/tool_selection": "Decision points and the tools picked at them.",
        "scorers/tool_correctness": "Calls compared with those that are expected.",
        "scorers/step_efficiency": "How many steps an attempt took.",
        "scorers/plan_graph": "Which sub-goals were attempted and completed.",
        "scorers/own_plan": "How much of its own first plan an attempt did.",
        "scorers/replanning": "How often and why plans were changed.",
        "scorers/planning": "How good the plan before the first call was.",
        "scorers/conduct": "Repeats, recovery from failures, and how attempts end.",
        "scorers/failure_modes": "Ways in which attempts fail.",
        "scorers/run_reasons": "Why attempts failed, in an order of precedence.",
        "scorers/rollback": "What is left after an agent is killed.",
        "own_metrics": "Scores of users' own metrics, held to what these promise.",
        "own_metrics/readable": "What users' own metrics may read.",
        "job": "What has to be scored, and what the run writes.",
        "statistics": "Sums over the attempts of a release.",
        "report": "What a report shows.",
        "rendering": "What reports, comparisons and runs say of users' own metrics.",
        "timeline": "One run, step by step.",
        "compare": "Two releases, side by side.",
    },
}
"""The folders that have a graph, and what each is about; of analysts' saved queries each stands
alone, and a dialect's relations are its own."""


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
        """Yield the lines of the graph of these rooms, with how many relations each reads."""
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
        """Return what a room reads of others, by room."""
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
    """Return the folder of a relation; of one that Python puts between others, that of these."""
    folder = relation.folder.relative_to(package.queries.root).as_posix()
    paths = package.queries.paths
    sources = [paths[name] for name in sorted(relation.reads) if name in paths]
    if folder == "build" and relation.path.suffix == ".py" and sources:
        folder = sources[0].parent.relative_to(package.queries.root).as_posix()
    return folder.removesuffix("/queries")


def _id(name: str) -> str:
    return name.replace("/", "_") + "_"
