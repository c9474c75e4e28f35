"""Labels of runs, and the dimensions that a mapping reads from them, on whole lakes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.traces import Row, agent, land, request_of, rows, span, tool

from tracegrade_lake import Lake
from tracegrade_queries.build.locked_build import build_with_costs
from tracegrade_queries.dimensions.labeling import GivenMapping, LabelingSummary
from tracegrade_queries.dimensions.mapping import DimensionMapping
from tracegrade_queries.dimensions.stored import DIMENSION_DEFINITIONS

MAPPED = "SELECT * FROM trajectories ORDER BY trajectory_id"
RELEASE_ATTRIBUTE = "app.release"


def mapping(**keys: object) -> GivenMapping:
    """Return a mapping as a file would give it."""
    return GivenMapping(DimensionMapping.model_validate({"version": 1, **keys}, by_alias=True))


def built(folder: Path, *bodies: bytes, by: GivenMapping | None = None) -> Lake:
    """Return a lake with these requests, built by a mapping."""
    lake = Lake.create(folder / "lake")
    land(lake, *bodies)
    build_with_costs(lake, mapping=by)
    return lake


def only_run(lake: Lake) -> Row:
    """Return the only run of a lake."""
    (run,) = rows(lake, MAPPED)
    return run


def labeling(lake: Lake, by: GivenMapping | None) -> LabelingSummary:
    """Apply a mapping to a built lake."""
    return build_with_costs(lake, mapping=by).labeling


def test_the_root_counts_before_other_agents_the_resource_and_other_spans(tmp_path: Path) -> None:
    """An attribute without a place is looked for in this order."""
    spans = [
        ("outside", span(9, trace=1, app__release="outside")),
        ("tool", tool(3, 1, tool_name="look", app__release="tool")),
        ("resource", None),
        ("root", agent(1, app__release="root")),
    ]
    by, order = mapping(release=[RELEASE_ATTRIBUTE]), []
    for place in range(1, len(spans) + 1):
        used = spans[:place]
        resource = {RELEASE_ATTRIBUTE: "resource"} if any(not each for _, each in used) else {}
        sent = [each for _, each in used if each]
        sent += [] if place == len(spans) else [agent(1)]
        sent += [] if place > 1 else [tool(3, 1, tool_name="look")]
        lake = built(tmp_path / str(place), request_of(sent, resource), by=by)
        order.append(only_run(lake)["release"])

    assert order == [name for name, _ in spans]


def test_a_condition_chooses_the_span(tmp_path: Path) -> None:
    """Of several flags, the value is that of the named one."""
    flags = [
        tool(
            number,
            1,
            tool_name="look",
            at=number,
            feature_flag__key=key,
            feature_flag__result__variant=variant,
        )
        for number, key, variant in ((2, "colour", "red"), (3, "planner", "b"))
    ]
    source = {"span": "feature_flag.result.variant", "where": {"feature_flag.key": "planner"}}
    lake = built(
        tmp_path, request_of([agent(1), *flags]), by=mapping(dimensions={"arm": [source]})
    )

    assert only_run(lake)["dimensions"] == {"arm": "b"}


@pytest.mark.parametrize(
    ("tags", "release"),
    [
        ("registry:5000/shop:1.4", "1.4"),
        ('["registry:5000/shop:1.4","shop:latest"]', "1.4"),
        ('["v1.4"]', "v1.4"),
        ("1.4", "1.4"),
        ("registry:5000/shop", None),
    ],
)
def test_the_tag_of_an_image_is_a_release_without_a_file(
    tmp_path: Path, tags: str, release: str | None
) -> None:
    """Only if no `service.version` is sent, which counts before it."""
    image = {"container.image.tags": tags}
    without = built(tmp_path / "a", request_of([agent(1)], image))
    versioned = built(tmp_path / "b", request_of([agent(1)], {**image, "service.version": "9"}))

    assert only_run(without)["release"] == release
    assert only_run(versioned)["release"] == "9"


def test_a_run_without_a_value_keeps_what_it_had(tmp_path: Path) -> None:
    """Its release, its agent and its task; other dimensions have no value."""
    keys: dict[str, object] = {name: ["absent"] for name in ("release", "agent", "task")}
    by = mapping(**keys, dimensions={"arm": ["absent"]})
    sent = request_of(
        [agent(1, agent_name="desk", tracegrade__task__id="refund")], {"service.version": "2"}
    )
    run = only_run(built(tmp_path, sent, by=by))

    assert (run["release"], run["agent_name"], run["task_id"]) == ("2", "desk", "refund")
    assert run["dimensions"] == {}


def test_a_sub_agent_has_the_dimensions_of_its_outermost_run(tmp_path: Path) -> None:
    """But for its own, and for its agent."""
    spans = [
        agent(1, agent_name="lead", app__arm="b", app__release="7"),
        tool(2, 1, tool_name="delegate", at=1, ms=50),
        agent(3, 2, agent_name="sub", at=2, ms=20),
        tool(4, 3, tool_name="look", at=3),
    ]
    by = mapping(release=[RELEASE_ATTRIBUTE], dimensions={"arm": [{"root": "app.arm"}]})
    found = rows(built(tmp_path, request_of(spans), by=by), MAPPED)

    assert {run["agent_name"] for run in found} == {"lead", "sub"}
    assert [(run["release"], run["dimensions"]) for run in found] == [("7", {"arm": "b"})] * 2


def test_the_model_is_that_with_most_tokens(tmp_path: Path) -> None:
    """A cheap model that is called more often does not count."""
    calls = [
        span(
            number,
            1,
            at=number,
            gen_ai__operation__name="chat",
            gen_ai__request__model=model,
            gen_ai__usage__input_tokens=tokens,
            gen_ai__usage__output_tokens=1,
        )
        for number, model, tokens in ((2, "small", 10), (3, "small", 10), (4, "large", 90))
    ]
    by = mapping(dimensions={"model": {"from": "model"}})
    run = only_run(built(tmp_path, request_of([agent(1), *calls]), by=by))

    assert run["dimensions"] == {"model": "large"}


def test_labels_are_bounded_and_without_secrets(tmp_path: Path) -> None:
    """At most 64 of at most 256 bytes each; none whose name says that it is a secret."""
    secrets = {"http.authorization": "x", "session.cookie": "x", "auth.token": "x",
               "process.command_line": "run --key x", "root:app.release": "spoofed"}  # fmt: skip
    many = {f"key.{number:03}": "é" * 300 for number in range(100)}
    run = only_run(built(tmp_path, request_of([agent(1)], {**secrets, **many})))

    assert len(run["labels"]) == 64
    assert max(len(text.encode()) for text in run["labels"].values()) <= 256
    assert not secrets.keys() & run["labels"].keys()
    assert list(run["labels"]) == sorted(run["labels"])


def test_several_releases_are_counted_and_the_root_wins(tmp_path: Path) -> None:
    """The flag stays away without a mapping file."""
    spans = [agent(1, app__release="1"), tool(2, 1, tool_name="look", app__release="2", at=1)]
    by = mapping(release=[RELEASE_ATTRIBUTE])
    lake = built(tmp_path, request_of(spans), by=by)
    mixed = only_run(lake)
    labeling(lake, GivenMapping(None))

    assert mixed["release"] == "1"
    assert mixed["flags"] == sorted([*only_run(lake)["flags"], "mixed_release"])
    assert only_run(lake)["release"] is None


VALUES = st.sampled_from(["", "1.4", "2", "x" * 300, "é", "<b>", "line\nbreak", "'; DROP", "null"])
ATTRIBUTES = st.dictionaries(st.sampled_from(["a.b", "c", "service.version"]), VALUES, max_size=3)
SOURCES = st.lists(
    st.one_of(
        st.sampled_from(["a.b", "c", "service.version", "absent"]),
        st.builds(
            lambda kind, name, pattern: {kind: name, **({"pattern": pattern} if pattern else {})},
            st.sampled_from(["root", "span", "resource", "attribute"]),
            st.sampled_from(["a.b", "c"]),
            st.sampled_from(["", r"(\d+)", "^.", "x+"]),
        ),
        st.just({"from": "model"}),
    ),
    max_size=3,
)
MAPPINGS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {"dimensions": st.dictionaries(st.sampled_from(["arm", "prompt"]), SOURCES, max_size=2)},
        optional={"release": SOURCES, "agent": SOURCES, "task": SOURCES},
    ),
)


@settings(max_examples=5)
@given(
    runs=st.lists(st.tuples(ATTRIBUTES, ATTRIBUTES, ATTRIBUTES), min_size=1, max_size=6),
    first=MAPPINGS,
    second=MAPPINGS,
)
def test_a_changed_mapping_gives_the_rows_of_a_build_with_it(
    tmp_path_factory: pytest.TempPathFactory,
    runs: list[tuple[dict[str, str], dict[str, str], dict[str, str]]],
    first: dict[str, object] | None,
    second: dict[str, object] | None,
) -> None:
    """From attributes that both mappings keep; labels and all other columns are equal."""
    bodies = [
        request_of(
            [
                agent(1, trace=trace, **_fields(root)),
                tool(2, 1, trace=trace, tool_name="look", at=1, **_fields(other)),
            ],
            resource,
        )
        for trace, (resource, root, other) in enumerate(runs, 1)
    ]
    names = ["a.b", "c", "service.version", "absent"]
    all_kept: dict[str, dict[str, object]] = {
        "dimensions": {"kept": [{"span": name, "pattern": "never^"} for name in names]}
    }
    changed, afresh = (
        Lake.create(tmp_path_factory.mktemp(name) / "lake") for name in ("changed", "afresh")
    )
    given_mappings = [_with(each, all_kept) for each in (first, second)]
    for lake, order in ((changed, given_mappings), (afresh, given_mappings[1:])):
        land(lake, *bodies)
        for each in order:
            build_with_costs(lake, mapping=each)

    assert rows(changed, MAPPED) == rows(afresh, MAPPED)


def _fields(attributes: dict[str, str]) -> dict[str, Any]:
    return {name.replace(".", "__"): text for name, text in attributes.items()}


def _with(keys: dict[str, object] | None, kept: dict[str, dict[str, object]]) -> GivenMapping:
    """Return a mapping that keeps the same attributes as others; one alone for no keys."""
    given_keys = dict(keys or {})
    dimensions = {**kept["dimensions"], **dict(given_keys.pop("dimensions", {}))}  # type: ignore[call-overload]
    return mapping(**given_keys, dimensions=dimensions)


def test_a_new_attribute_of_spans_needs_a_whole_build(tmp_path: Path) -> None:
    """The summary names it; a whole build reads it, and attributes of resources need none."""
    sent = request_of([agent(1, app__arm="b")], {"app.region": "eu"})
    lake = built(tmp_path, sent)
    by = mapping(dimensions={"arm": ["app.arm"], "region": ["app.region"]})
    found = labeling(lake, by)
    before = only_run(lake)["dimensions"]
    again = build_with_costs(lake, full=True).labeling

    assert (found.unread, found.runs, found.unlabeled) == (["app.arm"], 1, 0)
    assert before == {"region": "eu"}
    assert (list(again.unread), only_run(lake)["dimensions"]) == ([], {"arm": "b", "region": "eu"})


def test_a_lake_without_a_file_keeps_no_mapping(tmp_path: Path) -> None:
    """It has no table of them, no dimension, and a second build writes nothing."""
    lake = built(tmp_path, request_of([agent(1)], {"service.version": "1"}))
    version = lake.version("trajectories")
    build_with_costs(lake)

    assert only_run(lake)["dimensions"] is None
    assert lake.version(DIMENSION_DEFINITIONS.name) is None
    assert lake.version("trajectories") == version


def test_a_job_that_ended_early_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored mapping that not all runs follow yet is applied without being given again."""
    lake = built(tmp_path, request_of([agent(1)], {"app.region": "eu"}))
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "put_files", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            labeling(lake, mapping(dimensions={"region": ["app.region"]}))
    before = only_run(lake)["dimensions"]
    labeling(lake, None)

    assert (before, only_run(lake)["dimensions"]) == (None, {"region": "eu"})


def _interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_stored_definitions_are_those_of_the_file(tmp_path: Path) -> None:
    """As JSON, each dimension in its position."""
    lake = built(tmp_path, request_of([agent(1)]), by=mapping(dimensions={"b": ["x"], "a": ["y"]}))
    found = rows(
        lake,
        "SELECT name, definition FROM dimension_definitions WHERE kind = 'dimension' "
        "ORDER BY position",
    )

    assert [row["name"] for row in found] == ["b", "a"]
    assert json.loads(found[0]["definition"]) == [{"attribute": "x"}]
