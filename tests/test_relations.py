"""Relations are read where they may be, and made before they are read."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from docgen.relations import PACKAGES, Package, Relation
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import put
from tracegrade_queries.engine.sql import saved_queries
from tracegrade_queries.graph.headers import taken
from tracegrade_scoring.job.bucket_rows import divide, steps_read, take_bucket
from tracegrade_scoring.job.discovery import find_traces, newest_receipt
from tracegrade_scoring.job.score_bucket import score_traces
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.statistics.sums import add_scores, start_sums, total_sums

from .citations import ROOT
from .headers import relations_read
from .queries.traces import land, request_of
from .recording import Recorder, Statement
from .scoring.test_queries import SPECIFICATION, refund

PUBLIC = {
    "tracegrade_queries": {"trajectories", "built_steps", "built_trajectories"},
    "tracegrade_scoring": {*SCORES.names(), *saved_queries(SCORES.queries)},
    "tracegrade_scale": set(),
    "tracegrade_explorer": {"run_index", "matching_runs"},
}
"""What is known of each package outside of it, but for the everyday word `steps`."""
HIGHER = {
    "instrumentation/tracegrade": ["tracegrade_queries", "tracegrade_scoring"],
    "collector/tracegrade_lake": ["tracegrade_queries", "tracegrade_scoring"],
    "collector/tracegrade_collector": ["tracegrade_queries", "tracegrade_scoring"],
    "queries/tracegrade_queries": [
        "tracegrade_scoring",
        "tracegrade_scale",
        "tracegrade_explorer",
    ],
}
"""By folder, the packages that nothing in it may name."""

each_package = pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)


@each_package
def test_relations_are_made_from_their_level_and_below(package: Package) -> None:
    """Whatever a query reads is made by its own package, or is a table of one below."""
    wrong = {
        relation.name: sorted(relation.reads - package.readable)
        for relation in package.relations
        if not relation.reads <= package.readable
    }
    assert wrong == {}


@each_package
def test_saved_queries_read_what_a_connection_shows(package: Package) -> None:
    """They read tables and views of the lake, not what a job makes on its way."""
    of_lake = package.tables | package.below
    wrong = {
        relation.name: sorted(relation.reads - of_lake)
        for relation in package.relations
        if relation.folder.name == "saved" and not relation.reads <= of_lake
    }
    assert wrong == {}


@each_package
def test_every_query_reads_what_its_header_says(package: Package) -> None:
    """The relations under `Reads:` are those that its file reads and does not make itself."""
    wrong = {}
    for path in {relation.path for relation in package.relations if _is_sql(relation)}:
        own = [relation for relation in package.relations if relation.path == path]
        found = relations_read(path.read_text()) - {relation.name for relation in own}
        read = own[0].reads - {taken(path.read_text())}
        if found != read:
            wrong[path.stem] = sorted(found ^ read)
    assert wrong == {}


@pytest.mark.parametrize("folder", HIGHER)
def test_package_names_nothing_of_a_higher_one(folder: str) -> None:
    """Neither code, nor SQL, nor a text or comment in them speaks of what stands above."""
    names = {name for package in HIGHER[folder] for name in (package, *PUBLIC[package])}
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".sql"}
        for match in _naming(names).finditer(path.read_text())
    ]
    assert found == []


def _naming(names: Iterable[str]) -> re.Pattern[str]:
    """Return what finds names of several words anywhere, everyday words where they are read."""
    compound = "|".join(sorted(name for name in names if "_" in name))
    simple = "|".join(sorted(name for name in names if "_" not in name))
    return re.compile(rf"\b(?:{compound})\b|[\"'] *(?:FROM|JOIN) (?:{simple})\b")


def test_relations_of_scores_are_made_before_they_are_read(tmp_path: Path) -> None:
    """What the lake has under the same name is never taken for the bucket's."""
    lake = Lake.create(tmp_path / "lake")
    for trace in (1, 2):
        land(lake, request_of(refund(trace, error="boom" if trace == 2 else None)), seq=trace)
    build(lake)
    with connect(lake, layers=(SCORES,)) as con:
        before = Recorder(con)
        find_traces(before.con, SPECIFICATION, now_ns=newest_receipt(lake))
        (traces,) = divide(before.con, 1_000)
        recorder = Recorder(con)

        put(recorder.con, "bucket_traces", traces)
        take_bucket(recorder.con, steps_read(SPECIFICATION))
        rows = score_traces(recorder.con, SPECIFICATION)
        start_sums(recorder.con, are_whole=True)
        add_scores(recorder.con, rows[TRAJECTORY_SCORES].to_batches())
        total_sums(recorder.con)

    assert _read_too_early(recorder.statements) == []
    statements = [*before.statements, *recorder.statements]
    assert (
        _not_made(
            PACKAGES["scoring"],
            statements,
            {"bucket.py", "earlier_parts.py", "in_memory.py", "sides.py"},
        )
        == []
    )


def test_wrong_order_is_found() -> None:
    """A statement that reads what only a later one makes is named, with what it reads."""
    lake, one, two = (frozenset({name}) for name in ("lake", "one", "two"))
    first, second = Statement(one, lake, "first"), Statement(two, one, "second")

    assert _read_too_early([first, second]) == []
    assert _read_too_early([second, first]) == ["one is read by: second"]


def _read_too_early(statements: Sequence[Statement]) -> list[str]:
    """Return what is read before a statement of these has made it."""
    all_made = {name for statement in statements for name in statement.makes}
    made: set[str] = set()
    early = []
    for statement in statements:
        missing = sorted((statement.reads & all_made) - made)
        early += [f"{name} is read by: {statement.text.strip()}" for name in missing]
        made |= statement.makes
    return early


def _not_made(
    package: Package, statements: Iterable[Statement], apart: Collection[str] = ()
) -> list[str]:
    """Return what functions make, or modules by their docstrings, these apart, and is not made."""
    made = {name for statement in statements for name in statement.makes}
    declared = {
        relation.name
        for relation in package.relations
        if not _is_sql(relation) and relation.path.name not in apart
    }
    return sorted(declared - made)


def _is_sql(relation: Relation) -> bool:
    return relation.path.suffix == ".sql"


def test_picture_of_the_main_way_is_true() -> None:
    """Each relation that an arrow leads to is made from those it comes from, straight or not."""
    page = (ROOT / "docs" / "internals" / "steps.md").read_text("utf-8")
    picture = page.split("## The main way")[1].split("```")[1]
    reads: dict[str, set[str]] = {}
    for relation in PACKAGES["queries"].relations:
        reads.setdefault(relation.name, set()).update(relation.reads)
    lines = [re.split(r" {2,}", line)[0].split(" ─▶ ") for line in picture.splitlines() if line]
    arrows = [
        (source, made)
        for names in lines
        for sources, targets in pairwise(names)
        for source in sources.split(", ")
        for made in targets.split(", ")
    ]

    assert len(arrows) > 30
    assert [arrow for arrow in arrows if arrow[0] not in _sources(arrow[1], reads)] == []


def _sources(name: str, reads: Mapping[str, set[str]]) -> set[str]:
    """Return all that a relation is made from, to the first."""
    found: set[str] = set()
    new = {name}
    while new := set().union(*(reads.get(each, set()) for each in new)) - found:
        found |= new
    return found
