"""The need for overlays is known before a suite is loaded, with any content."""

from pathlib import Path

import pytest

from tracegrade_harness.parts.files.asks_for_overlays import asks_for_overlays

PART = "environments: {e: {files: {data: {from: a, at: b, overlay: %s}}}}"


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        (PART % "true", True),
        (PART % '"true"', True),  # an error, which is reported later
        (PART % "false", False),
        (f"agents: {{a: {{release: 2024-99-99}}}}\n{PART % 'true'}", True),
        (f"x: !!python/object:os.system y\n{PART % 'true'}", True),
        ("environments: {e: {files: {overlay: {from: a, at: b}}}}", False),
        ("cases: {overlay: {user_input: 'overlay: true'}}", False),
        ("environments: [overlay]", False),
        ("overlay", False),
        ("environments: {overlay: ", False),
        ("[" * 5000 + "overlay", False),
        ("&a [*a, overlay]", False),
    ],
)
def test_only_a_part_that_says_so_asks(tmp_path: Path, text: str, asks: bool) -> None:
    """A file that is not a suite needs none, and is not an error here."""
    suite = tmp_path / "suite.yaml"
    suite.write_text(text)

    assert asks_for_overlays(suite) == asks


def test_what_cannot_be_read_asks_for_nothing(tmp_path: Path) -> None:
    """The loader reports it."""
    (tmp_path / "suite.yaml").write_bytes(b"\xff overlay")

    assert not asks_for_overlays(tmp_path)
    assert not asks_for_overlays(tmp_path / "suite.yaml")
