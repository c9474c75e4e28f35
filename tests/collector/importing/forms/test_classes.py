"""Classes of runs that every format may hold: empty files, images, sessions that went on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.peers import PLAIN, QUESTION, WRITERS, Step
from tests.collector.importing.imports import imported, written, written_lines

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
