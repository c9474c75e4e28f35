"""Classes of runs that every format may hold: empty files, images, sessions that went on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.peers import PLAIN, QUESTION, WRITERS, Step
from tests.collector.importing.forms.test_opencode import STEP, answer, export, prompt, text, tool
from tests.collector.importing.imports import Outcome, Row, imported, written, written_lines
from tests.collector.importing.test_inspect import EVAL, sample
from tests.collector.importing.test_langfuse import observation, observations

from tracegrade_collector.importing.known_formats import FORMATS

NAMES = [each.name for each in FORMATS]


@pytest.mark.parametrize("content", ["", "\n", "[]", "{}"])
@pytest.mark.parametrize("name", ["auto", *NAMES])
def test_an_empty_file_gives_nothing(tmp_path: Path, name: str, content: str) -> None:
    """Without the name of a format, a file that nothing can be told of is a fault."""
    file = tmp_path / "empty.json"
    file.write_text(content)
    outcome = imported(tmp_path, file, format_=name)

    assert outcome.spans() == []
    assert outcome.imported.added.total() == 0
    assert outcome.imported.faults or name != "auto"


def _with_image(steps: Sequence[Step]) -> list[Step]:
    """Return steps whose models are given an image beside the question."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": QUESTION}, image]
    asked: Any = [{"role": "user", "content": content}]
    return [
        Step(**(vars(step) | {"given": asked})) if step.kind == "model" else step for step in steps
    ]


@pytest.mark.parametrize("name", [*WRITERS])
def test_images_are_counted_and_texts_stay(tmp_path: Path, name: str) -> None:
    """The text next to an image is the message."""
    if name == "datadog":
        pytest.skip("messages of its spans have texts alone")
    outcome = imported(tmp_path, written_lines(tmp_path, WRITERS[name](_with_image(PLAIN))))

    told = str([span["attributes"] for span in outcome.spans()])
    assert QUESTION in told
    assert "AAAA" not in told
    assert sum(outcome.imported.ignored[key] for key in outcome.imported.ignored if "image" in key)


@pytest.mark.parametrize("name", [*WRITERS])
def test_an_export_of_a_run_that_went_on_adds_its_new_spans(tmp_path: Path, name: str) -> None:
    """The spans that were exported before are known."""
    begun = imported(tmp_path, written(tmp_path, WRITERS[name](PLAIN[:3])))
    before = len(begun.spans())
    whole = written(tmp_path, WRITERS[name](PLAIN), "whole.json")

    assert begun.again(whole) == len(PLAIN) - before


def test_an_agent_below_a_tool_of_langfuse_is_a_run(tmp_path: Path) -> None:
    """The call stays in the run that made it; a retrieval tells its query and what it found."""
    rows = [
        *observations()[:3],
        observation(4, "AGENT", "forecaster", "Paris?", "22C")
        | {"parentObservationId": f"{3:016x}"},
        observation(5, "RETRIEVER", "maps", {"query": "Paris"}, [{"content": "48N"}]),
    ]
    outcome = imported(tmp_path, written(tmp_path, rows))

    assert outcome.rows(
        "SELECT agent_name FROM trajectories WHERE parent_trajectory_id <> ''"
    ) == [("forecaster",)]
    [found] = [dict(span["attributes"]) for span in outcome.spans() if span["name"] == "maps"]
    assert found["gen_ai.retrieval.query.text"] == "Paris"
    assert found["gen_ai.retrieval.documents"] == '[{"content":"48N"}]'


def test_observations_of_a_run_that_went_on_are_added(tmp_path: Path) -> None:
    """An export in the middle of a run lacks its answer, and one after it adds the rest."""
    begun = imported(tmp_path, written(tmp_path, observations()[:3]))

    assert begun.again(written(tmp_path, observations(), "whole.json")) == 1


def test_images_of_observations_are_counted(tmp_path: Path) -> None:
    """The text next to an image is the question."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": "Where is this?"}, image]
    asked = observation(2, "GENERATION", "chat", [{"role": "user", "content": content}], "Paris.")
    outcome = imported(tmp_path, written(tmp_path, [observations()[0], asked]))

    assert outcome.imported.ignored["content blocks of type 'image_url'"] == 1
    assert "Where is this?" in str(outcome.spans())


def test_a_long_trace_of_observations_is_whole(tmp_path: Path) -> None:
    """A call for each of a thousand observations, one a line."""
    calls = [
        observation(2, "TOOL", "look", {"n": n}, "x" * 1_000) | {"id": f"{n + 2:016x}"}
        for n in range(1_000)
    ]
    outcome = imported(tmp_path, written_lines(tmp_path, [observations()[0], *calls]))

    assert outcome.imported.added.total() == 1_001


def test_a_session_of_opencode_that_went_on_adds_its_new_spans(tmp_path: Path) -> None:
    """A session is exported again and again while it grows."""
    turn = [prompt(0, text("Look.")), answer(2, STEP, tool(1, 2, 3))]
    begun = imported(tmp_path, written(tmp_path, export(*turn)))
    grown = export(*turn, answer(6, STEP, tool(2, 7, 8)))

    assert begun.again(written(tmp_path, grown, "grown.json")) >= 2
    assert begun.again(written(tmp_path, grown, "grown.json")) == 0


def _of_inspect(folder: Path, *messages: Row, **fields: Any) -> Outcome:
    """Return what becomes of a sample with these messages after its question."""
    asked = {"id": "m1", "role": "user", "content": "Weather?"}
    found = sample(messages=[asked, *messages], events=[], attachments={}, **fields)
    return imported(folder, written(folder, {"eval": EVAL, "plan": {}, "samples": [found]}))


def _asks(*calls: str) -> Row:
    made = [{"id": call, "function": "look", "arguments": {"at": call}} for call in calls]
    return {"id": f"asks {calls[0]}", "role": "assistant", "content": "", "tool_calls": made}


def _gave(call: str) -> Row:
    return {"id": f"gave {call}", "role": "tool", "tool_call_id": call, "content": f"of {call}"}


def test_calls_of_one_message_of_inspect_have_their_results(tmp_path: Path) -> None:
    """Results may be in another order than their calls."""
    outcome = _of_inspect(tmp_path, _asks("c1", "c2"), _gave("c2"), _gave("c1"))

    assert outcome.rows("SELECT tool_call_id, result FROM steps WHERE kind = 'tool_call'") == [
        ("c1", "of c1"),
        ("c2", "of c2"),
    ]


def test_images_of_a_sample_of_inspect_are_counted(tmp_path: Path) -> None:
    """The text next to an image is read."""
    content = [{"type": "image", "image": "data:x"}, {"type": "text", "text": "Fine."}]
    outcome = _of_inspect(tmp_path, {"id": "m2", "role": "assistant", "content": content})

    assert outcome.imported.ignored["content blocks of type 'image'"] == 1
    assert outcome.steps() == [("answer", None, None, "Fine.", None)]


def test_a_sample_of_inspect_that_failed_ends_with_its_open_call(tmp_path: Path) -> None:
    """Nothing tells how the last call ended."""
    outcome = _of_inspect(tmp_path, _asks("c1"), error={"message": "out of memory"}, scores=None)

    assert [(step[1], step[4]) for step in outcome.steps()] == [("look", "unknown")]


def test_a_long_sample_of_inspect_is_one_run(tmp_path: Path) -> None:
    """A thousand messages and their results."""
    turns = [each for n in range(1_000) for each in (_asks(f"c{n}"), _gave(f"c{n}"))]
    outcome = _of_inspect(tmp_path, *turns)

    assert outcome.imported.understood["trajectories"] == 1
    assert outcome.imported.understood["tool calls"] == 1_000
