"""Records of JSON are found however they are laid out: lines, documents, marks, blanks between."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_collector.importing import records
from tracegrade_collector.importing.records import read_records

RUN = {"task": "t", "messages": [{"role": "user", "content": "{"}, {"role": "assistant"}]}
OTHER = {"task": "u", "messages": [{"role": "user", "content": "]}\n{"}]}
FIRST_MEMBER_FIRST = '{"messages": [\n{"role": "user"},\n{"role": "assistant"}\n], "task": "t"}'


def read(text: str | bytes) -> list[tuple[int, Any]]:
    """Return the line and the value of each record; of a broken one, None."""
    body = text if isinstance(text, bytes) else text.encode()
    return [(record.line, record.value) for record in read_records(BytesIO(body))]


def values(text: str | bytes) -> list[Any]:
    """Return the values of all records; of a broken one, None."""
    return [value for _, value in read(text)]


MEMBERS = [{"role": "user"}, {"role": "assistant"}]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\n\n", "\r\n \t\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeff\n", "\n\n", " \r\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FIRST_MEMBER_FIRST, [{"messages": MEMBERS, "task": "t"}]),
        ('{"messages": [\n{"role": "user"}\n]}', [{"messages": MEMBERS[:1]}]),
        ('{"messages":\n[\n{"role": "user"}]}', [{"messages": MEMBERS[:1]}]),
        ('{\n"messages": [{"role": "user"}\n,{"role": "assistant"}]}', [{"messages": MEMBERS}]),
        ('[{"role": "user"},\n{"role": "assistant"}]', MEMBERS),
        ('[\n{"role": "user"}\n,\n{"role": "assistant"}\n]', MEMBERS),
        ('[\n[{"role": "user"}],\n[{"role": "assistant"}]\n]', [[each] for each in MEMBERS]),
        ('[{"role": "user"}, {"role": "assistant"}]', MEMBERS),
        ('[{"role": "user"}]\n[{"role": "assistant"}]', [[each] for each in MEMBERS]),
        ('{"role": "user"}\n{"role": "assistant"}', MEMBERS),
        ('{"role": "user"},\n{"role": "assistant"}', MEMBERS),
        ('{"role": "user"}{"role": "assistant"}', MEMBERS),
        ('{"role": "user"} {"role":\n"assistant"}', MEMBERS),
        ('{\n"role": "user"\n}\n{\n"role": "assistant"\n}', MEMBERS),
        ('{\n"role": "user"\n}{\n"role": "assistant"\n}', MEMBERS),
        ('{\n"role": "user"\n}\n{"role": "assistant"}', MEMBERS),
        ('{"role": "user"}\n{\n"role": "assistant"\n}', MEMBERS),
    ],
)
def test_every_layout_gives_its_records(
    text: str, expected: list[Any], mark: str, line_break: str
) -> None:
    """For any text before the first record, and any line ends."""
    assert values((mark + text + "\n").replace("\n", line_break)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [{"b"\n{"c": 1}', [(1, None), (2, {"c": 1})]),
        ('{"a": "cut\n{"c": 1}\n{"d": 1}', [(1, None), (2, {"c": 1}), (3, {"d": 1})]),
        ('{"a": [\n{"c": 1}\n{"d": 1}', [(1, None), (2, {"c": 1}), (3, {"d": 1})]),
        ('{"c": 1}\n{"a": [{"b"\n\n{"d": 1}', [(1, {"c": 1}), (2, None), (4, {"d": 1})]),
        ('{"c": 1}\n{"a": [', [(1, {"c": 1}), (2, None)]),
        ('\ufeff{"c": 1}\n\ufeff\n\ufeff{"d": 1}', [(1, {"c": 1}), (3, {"d": 1})]),
    ],
)
def test_a_broken_line_costs_itself_alone(text: str, expected: list[Any]) -> None:
    """A line that was cut is not taken for the beginning of a document."""
    assert read(text) == expected


def test_a_list_on_one_long_line_is_read_by_its_records() -> None:
    """The line is longer than a record may be, and may end anywhere where it is cut."""
    record = json.dumps({"text": "x" * 2**20})
    assert len(values(f"[{', '.join([record] * 70)}]")) == 70


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('{}[]",\n\\ab\u2028', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("{a"), inner, max_size=3),
    max_leaves=8,
)
RECORD = st.dictionaries(st.text("{}[]ab", max_size=2), JSON, max_size=3)

INDENT = st.sampled_from([None, 0, 1, "\t"])


@given(
    st.lists(RECORD, min_size=1, max_size=4), st.sampled_from([None, 0, 1, "\t"]), st.booleans()
)
def test_any_records_come_back(records: list[Any], indent: Any, in_list: bool) -> None:
    """Objects as a list, or one after the other, with any indentation."""
    if in_list:
        text = json.dumps(records, indent=indent)
    else:
        text = "\n".join(json.dumps(record, indent=indent) for record in records)
    assert values(text) == records


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_document_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A piece may end after a backslash that begins an escape, or after one that ends it."""
    monkeypatch.setattr(records, "_CHUNK_BYTES", size)
    runs = [{"task": text} for text in ("a\\", '\\\\"{', "]\\\\", '"', "\\n\n\\")]
    document = "[" + "\n" * 60 + ",\n".join(json.dumps(run, indent=1) for run in runs * 20)

    assert values(document + "\n]") == runs * 20
