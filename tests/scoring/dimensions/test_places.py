"""Equal scores wherever a release is sent, mapping files that cannot be used, and comparisons."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.commands import tracegrade
from tests.queries.traces import Row, agent, land, request_of, span, tool

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.errors import DimensionsInvalid
from tracegrade_scoring.dimensions.options import given_mapping
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import Specification

RUNS: Final = 8
FLAG = {"feature_flag__key": "release", "feature_flag__result__variant": "{}"}

Sent = tuple[dict[str, str], dict[str, Any], dict[str, Any], dict[str, Any]]
"""Attributes of the resource, the root, the tool and a span outside of the run."""

PLACES: Final[dict[str, tuple[str, Callable[[str], Sent]]]] = {
    "service.version": ("", lambda it: ({"service.version": it}, {}, {}, {})),
    "agent version": ("", lambda it: ({}, {"gen_ai__agent__version": it}, {}, {})),
    "image tag": ("", lambda it: ({"container.image.tags": f'["shop:{it}"]'}, {}, {}, {})),
    "revision": ("", lambda it: ({"vcs.ref.head.revision": it}, {}, {}, {})),
    "resource": (
        "release: [{resource: app.build, pattern: '-(.*)'}]",
        lambda it: ({"app.build": f"b-{it}"}, {}, {}, {}),
    ),
    "root": ("release: [{root: app.v}]", lambda it: ({}, {"app__v": it}, {}, {})),
    "flag of a tool span": (
        "release: [{span: feature_flag.result.variant, where: {feature_flag.key: release}}]",
        lambda it: ({}, {}, {**FLAG, "feature_flag__result__variant": it}, {}),
    ),
    "span outside": ("release: [app.v]", lambda it: ({}, {}, {}, {"app__v": it})),
}


def lake_of(folder: Path, send: Callable[[str], Sent], arms: bool = False) -> Lake:
    """Return a lake of runs of two releases; the second fails some of its calls."""
    lake = Lake.create(folder / "lake")
    for trace in range(1, RUNS + 1):
        release = "1" if trace % 2 else "2"
        resource, root, call, outside = send(release)
        error = "boom" if trace % 4 == 0 else None
        more: dict[str, Any] = {"app__arm": "ab"[(trace // 2) % 2]} if arms else {}
        sent: list[Row] = [
            agent(1, trace=trace, tracegrade__task__id=f"t{trace // 4}", **root, **more),
            tool(2, 1, trace=trace, tool_name="look", at=1, error=error, **call),
        ]
        if outside:
            sent.append(span(9, trace=trace, ms=0.5, **outside))
        land(lake, request_of(sent, resource), seq=trace)
    return lake


def mapping_file(folder: Path, text: str) -> Path:
    """Write a mapping file."""
    file = folder / "dims.yaml"
    file.write_text(f"version: 1\n{text}\n", encoding="utf-8")
    return file


def release_scores(lake: Lake) -> list[tuple[Any, ...]]:
    """Return all rows of the table."""
    with connect(lake, layers=(SCORES,)) as con:
        return con.sql("FROM release_scores ORDER BY ALL").fetchall()


@pytest.mark.slow
def test_the_scores_of_releases_are_equal_wherever_they_are_sent(tmp_path: Path) -> None:
    """In eight places, four of them without a mapping file."""
    found = {}
    for place, (text, send) in PLACES.items():
        folder = tmp_path / place.replace(" ", "_")
        folder.mkdir()
        lake = lake_of(folder, send)
        file = mapping_file(folder, text) if text else None
        score(lake, Specification(), mapping=given_mapping(file, forget=False))
        found[place] = release_scores(lake)
    expected = found["service.version"]

    assert {row[0] for row in expected} == {"1", "2"}
    assert [place for place, rows in found.items() if rows != expected] == []


BAD_FILES = {
    "unknown key": ("relaese: [x]", "unknown key 'relaese'"),
    "unknown source": ("release: [{resorce: x}]", "unknown key 'resorce'"),
    "bad pattern": ("release: [{resource: x, pattern: '('}]", "not valid RE2"),
    "no source": ("release: [{pattern: x}]", "not one source"),
    "condition without a span": ("release: [{root: x, where: {a: b}}]", "only a span"),
    "secret": ("release: [http.authorization]", "may hold a secret"),
    "nine dimensions": (
        "dimensions: {" + ", ".join(f"d{number}: [x]" for number in range(9)) + "}",
        "at most 8",
    ),
    "taken name": ("dimensions: {tsa: [x]}", "'tsa' is the name of a column or filter"),
    "bad name": ("dimensions: {'A b': [x]}", "A b"),
    "no mapping": ("- x", "not"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_cannot_be_used_ends_with_one_line(tmp_path: Path, name: str) -> None:
    """With the file, the line and the fault; the exit code is 2."""
    text, fault = BAD_FILES[name]
    with pytest.raises(DimensionsInvalid) as raised:
        given_mapping(mapping_file(tmp_path, text), forget=False)

    assert fault in str(raised.value)
    assert str(raised.value).startswith(f"{tmp_path / 'dims.yaml'}:")
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A scored lake of two releases and two arms."""
    folder = tmp_path_factory.mktemp("arms")
    lake = lake_of(folder, lambda it: ({"service.version": it}, {}, {}, {}), arms=True)
    text = "dimensions:\n  arm: [{root: app.arm}]\n  rel: [service.version]"
    score(lake, Specification(), mapping=given_mapping(mapping_file(folder, text), forget=False))
    return lake


def comparison(lake: Lake, *arguments: str) -> dict[str, Any]:
    """Return what `compare` writes as JSON, of the only agent."""
    ended = tracegrade("compare", *arguments, "--lake", lake.root, "--format", "json")
    assert ended.returncode == 0, ended.stderr
    (found,) = json.loads(ended.stdout)["comparisons"]
    return dict(found)


def test_a_dimension_with_the_values_of_the_release_compares_as_the_release(arms: Lake) -> None:
    """Every number of both comparisons is equal, also where sides are written as filters."""
    of_releases = comparison(arms, "1", "2")
    others = [
        comparison(arms, "1", "2", "--by", "rel"),
        comparison(arms, "rel=1", "rel=2"),
        comparison(arms, "release=1", "release=2"),
    ]

    assert of_releases["base_runs"] == RUNS // 2
    for other in others:
        assert other["metrics"] == of_releases["metrics"]
        assert other["reasons"] == of_releases["reasons"]


def test_other_dimensions_that_differ_are_named(arms: Lake) -> None:
    """Arms of one release do not differ otherwise; sides of two releases differ in it."""
    mixed = comparison(arms, "release=1 arm=a", "release=2 arm=b")
    equal = comparison(arms, "a", "b", "--by", "arm", "--where", "release=1")

    assert [each["dimension"] for each in mixed["differing_dimensions"]] == ["rel"]
    assert equal["differing_dimensions"] == []


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("arm=a", "release=1"), "are on both sides"),
        (("arm=a", "arm=c"), "known values of arm: 'a', 'b'"),
        (("a", "b", "--by", "arms"), "did you mean 'arm'?"),
        (("a", "b", "--by", "arm", "--where", "arm=a"), "leave out one"),
        (("arm='a", "arm=b"), "is not a filter"),
    ],
)
def test_sides_that_cannot_be_compared_end_with_one_line(
    arms: Lake, arguments: tuple[str, ...], fault: str
) -> None:
    """The line says which way out there is."""
    ended = tracegrade("compare", *arguments, "--lake", arms.root)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert fault in ended.stderr
    assert ended.stderr.count("\n") == 1
