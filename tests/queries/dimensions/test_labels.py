"""Labels of runs, and the dimensions that a mapping reads from them, on whole lakes."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from tests.drawn import drawn
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


ORDERED = ("outside", "tool", "resource", "root")
"""Where an attribute may be, the last first."""


def with_release(places: Sequence[str], trace: int) -> bytes:
    """Return a run whose release is said in these places."""
    said: dict[str, dict[str, Any]] = {place: {"app__release": place} for place in places}
    spans = [
        agent(1, trace=trace, **said.get("root", {})),
        tool(3, 1, trace=trace, tool_name="look", **said.get("tool", {})),
        span(9, trace=trace, **said.get("outside", {})),
    ]
    return request_of(spans, {RELEASE_ATTRIBUTE: "resource"} if "resource" in said else {})


def flags() -> bytes:
    """Return a run with several feature flags."""
    tools = [
        tool(
            number,
            1,
            trace=5,
            tool_name="look",
            at=number,
            feature_flag__key=key,
            feature_flag__result__variant=variant,
        )
        for number, key, variant in ((2, "colour", "red"), (3, "planner", "b"))
    ]
    return request_of([agent(1, trace=5), *tools])


def named() -> bytes:
    """Return a run with a release, an agent and a task, in none of the places of the mapping."""
    run = agent(1, trace=6, agent_name="desk", tracegrade__task__id="refund")
    return request_of([run], {"service.version": "2"})


def sub_agent() -> bytes:
    """Return an agent that calls another."""
    spans = [
        agent(1, trace=7, agent_name="lead", app__arm="b", app__release="7"),
        tool(2, 1, trace=7, tool_name="delegate", at=1, ms=50),
        agent(3, 2, trace=7, agent_name="sub", at=2, ms=20),
        tool(4, 3, trace=7, tool_name="look", at=3),
    ]
    return request_of(spans)


def models() -> bytes:
    """Return a run that calls a cheap model more often than a large one."""
    calls = [
        span(
            number,
            1,
            trace=8,
            at=number,
            gen_ai__operation__name="chat",
            gen_ai__request__model=model,
            gen_ai__usage__input_tokens=tokens,
            gen_ai__usage__output_tokens=1,
        )
        for number, model, tokens in ((2, "small", 10), (3, "small", 10), (4, "large", 90))
    ]
    return request_of([agent(1, trace=8), *calls])


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Row]]:
    """The runs of each trace of a lake that was built by a mapping."""
    flag = {"span": "feature_flag.result.variant", "where": {"feature_flag.key": "planner"}}
    by = mapping(
        release=[RELEASE_ATTRIBUTE],
        agent=["absent"],
        task=["absent"],
        dimensions={
            "arm": [{"root": "app.arm"}, flag],
            "model": {"from": "model"},
            "nowhere": ["absent"],
        },
    )
    ordered = [with_release(ORDERED[:last], last) for last in range(1, len(ORDERED) + 1)]
    bodies = [*ordered, flags(), named(), sub_agent(), models()]
    return by_trace(built(tmp_path_factory.mktemp("mapped"), *bodies, by=by))


def by_trace(lake: Lake) -> dict[int, list[Row]]:
    """Return the runs of each trace."""
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for run in rows(lake, MAPPED):
        found[int(run["trace_id"], 16)].append(run)
    return found


def test_the_root_counts_before_other_agents_the_resource_and_other_spans(
    mapped: dict[int, list[Row]],
) -> None:
    """An attribute without a place is looked for in this order."""
    found = [run["release"] for trace in range(1, len(ORDERED) + 1) for run in mapped[trace]]
    assert found == list(ORDERED)


def test_a_condition_chooses_the_span(mapped: dict[int, list[Row]]) -> None:
    """Of several flags, the value is that of the named one."""
    (run,) = mapped[5]
    assert run["dimensions"] == {"arm": "b"}


TAGS = {
    "registry:5000/shop:1.4": "1.4",
    '["registry:5000/shop:1.4","shop:latest"]': "1.4",
    '["v1.4"]': "v1.4",
    "1.4": "1.4",
    "registry:5000/shop": None,
}
SECRETS = {"http.authorization": "x", "session.cookie": "x", "auth.token": "x",
           "process.command_line": "run --key x", "root:app.release": "spoofed"}  # fmt: skip


@pytest.fixture(scope="module")
def unmapped(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Row]]:
    """The runs of each trace of a lake without a mapping: with tags of images, then the last."""
    many = {f"key.{number:03}": "é" * 300 for number in range(100)}
    images = [{"container.image.tags": tags} for tags in TAGS]
    resources = [*images, *(each | {"service.version": "9"} for each in images), SECRETS | many]
    bodies = [request_of([agent(1, trace=n)], each) for n, each in enumerate(resources, 1)]
    return by_trace(built(tmp_path_factory.mktemp("unmapped"), *bodies))


@pytest.mark.parametrize(("tags", "release"), TAGS.items())
def test_the_tag_of_an_image_is_a_release_without_a_file(
    unmapped: dict[int, list[Row]], tags: str, release: str | None
) -> None:
    """Only if no `service.version` is sent, which counts before it."""
    trace = 1 + list(TAGS).index(tags)
    (without,), (versioned,) = unmapped[trace], unmapped[trace + len(TAGS)]

    assert without["release"] == release
    assert versioned["release"] == "9"


def test_a_run_without_a_value_keeps_what_it_had(mapped: dict[int, list[Row]]) -> None:
    """Its release, its agent and its task; other dimensions have no value."""
    (run,) = mapped[6]

    assert (run["release"], run["agent_name"], run["task_id"]) == ("2", "desk", "refund")
    assert run["dimensions"] == {}


def test_a_sub_agent_has_the_dimensions_of_its_outermost_run(mapped: dict[int, list[Row]]) -> None:
    """But for its own, and for its agent."""
    found = mapped[7]

    assert {run["agent_name"] for run in found} == {"lead", "sub"}
    assert [(run["release"], run["dimensions"]) for run in found] == [("7", {"arm": "b"})] * 2


def test_the_model_is_that_with_most_tokens(mapped: dict[int, list[Row]]) -> None:
    """A cheap model that is called more often does not count."""
    (run,) = mapped[8]
    assert run["dimensions"] == {"model": "large"}


def test_labels_are_bounded_and_without_secrets(unmapped: dict[int, list[Row]]) -> None:
    """At most 64 of at most 256 bytes each; none whose name says that it is a secret."""
    (run,) = unmapped[2 * len(TAGS) + 1]

    assert len(run["labels"]) == 64
    assert max(len(text.encode()) for text in run["labels"].values()) <= 256
    assert not SECRETS.keys() & run["labels"].keys()
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
MAPPINGS: st.SearchStrategy[dict[str, Any] | None] = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {"dimensions": st.dictionaries(st.sampled_from(["arm", "prompt"]), SOURCES, max_size=2)},
        optional={"release": SOURCES, "agent": SOURCES, "task": SOURCES},
    ),
)


def test_a_changed_mapping_gives_the_rows_of_a_build_with_it(tmp_path: Path) -> None:
    """From attributes that both mappings keep; labels and all other columns are equal."""
    bodies = [
        request_of(
            [
                agent(1, trace=trace, **_fields(root)),
                tool(2, 1, trace=trace, tool_name="look", at=1, **_fields(other)),
            ],
            resource,
        )
        for trace, (resource, root, other) in enumerate(
            drawn(st.tuples(ATTRIBUTES, ATTRIBUTES, ATTRIBUTES)), 1
        )
    ]
    names = ["a.b", "c", "service.version", "absent"]
    all_kept: dict[str, dict[str, object]] = {
        "dimensions": {"kept": [{"span": name, "pattern": "never^"} for name in names]}
    }
    some = [each for each in drawn(MAPPINGS) if each and any(each["dimensions"].values())][::14]
    first, *others = (_with(each, all_kept) for each in (None, *some, None))
    changed = built(tmp_path, *bodies, by=first)
    for number, each in enumerate(others):
        labeling(changed, each)
        afresh = built(tmp_path / str(number), *bodies, by=each)
        assert rows(changed, MAPPED) == rows(afresh, MAPPED), each


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
