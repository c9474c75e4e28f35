"""Tapes give the reply of an equal call, in any order of calls, and say why there is none."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.tape.entries import (
    Tape,
    TapeEntry,
    TapeHeader,
    key_of,
    read_tape,
    write_tape,
)
from tracegrade_harness.tape.nearest import difference
from tracegrade_harness.tape.player import TapeMiss, TapePlayer, TapeRecorder

HEADER = TapeHeader(
    suite="s", case="c", agent="a", release=None, recorded="2026-01-01", version="1"
)
API_KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


def tape(*calls: tuple[str, Any, Any]) -> list[TapeEntry]:
    """Return a tape of calls of one channel: name, arguments, reply."""
    return [TapeEntry(key_of("x", name, asked), reply) for name, asked, reply in calls]


def test_parallel_calls_get_their_replies_in_any_order() -> None:
    """Of each, in the order in which they were recorded."""
    calls = [("f", {"n": n}, f"{n}, {time}") for time in (1, 2) for n in range(5)]
    recorded, keys = tape(*calls), [key_of("x", "f", {"n": n}) for n in range(5)]
    order = [n for n in range(5) for _ in (1, 2)]
    for seed in range(1000):
        random.Random(seed).shuffle(order)  # noqa: S311 - no secret
        player = TapePlayer(recorded)
        heard: dict[int, list[str]] = {n: [] for n in order}
        for n in order:
            heard[n].append(player.take(keys[n]))

        assert heard == {n: [f"{n}, 1", f"{n}, 2"] for n in order}
        assert player.unused() == []


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ({"a": 1, "b": 2.0}, {"b": 2, "a": 1.0}),
        ({"key": API_KEY}, {"key": API_KEY.replace("abc", "xyz")}),
        ({"text": "\ud800"}, {"text": "\udfff"}),
    ],
    ids=["order and kind of numbers", "secrets", "half characters"],
)
def test_calls_are_equal_as_scores_see_them(recorded: Any, asked: Any) -> None:
    """But for what no tape can hold."""
    assert TapePlayer(tape(("f", recorded, 1))).take(key_of("x", "f", asked)) == 1


@pytest.mark.parametrize(
    ("name", "asked", "why"),
    [
        ("f", {"a": [1, 3]}, "not on the tape; the nearest has 2 at $.a[1] instead of 3"),
        ("f", {"a": [1]}, "not on the tape; the nearest has 2 at $.a[1] instead of nothing"),
        ("f", {"a": [1, "2"]}, 'not on the tape; the nearest has 2 at $.a[1] instead of "2"'),
        ("g", {"a": [1, 2]}, "not on the tape; it has f"),
    ],
)
def test_another_call_is_a_miss(name: str, asked: Any, why: str) -> None:
    """It says what the nearest has instead."""
    player = TapePlayer(tape(("f", {"a": [1, 2]}, 1), ("f", {"z": 9}, 1)))

    with pytest.raises(TapeMiss):
        player.take(key_of("x", name, asked))

    assert player.misses == [f"x {name}: {why}"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=many(40))
@given(arguments=st.dictionaries(st.text("xyz", min_size=1), VALUES, min_size=1), data=st.data())
def test_any_changed_argument_is_a_miss(arguments: dict[str, Any], data: st.DataObject) -> None:
    """However little it changed, or if it came or went."""
    name = data.draw(st.sampled_from(sorted(arguments)))
    changed = {**arguments, name: data.draw(VALUES)}
    fewer = {key: arguments[key] for key in arguments if key != name}
    for asked in (changed, fewer, {**arguments, "new": None}):
        player = TapePlayer(tape(("f", arguments, 1)))
        if json.dumps(asked, sort_keys=True) == json.dumps(arguments, sort_keys=True):
            assert player.take(key_of("x", "f", asked)) == 1
        else:
            with pytest.raises(TapeMiss):
                player.take(key_of("x", "f", asked))


def test_a_call_too_many_is_a_miss() -> None:
    """Unless the last reply is to stand for all that come."""
    player = TapePlayer(tape(("f", {}, 1), ("g", {}, 2)))

    assert [player.take(key_of("x", "g", {}), again=True) for _ in range(3)] == [2, 2, 2]
    assert player.take(key_of("x", "f", {})) == 1
    with pytest.raises(TapeMiss, match="called again after 1 times, which is what the tape has"):
        player.take(key_of("x", "f", {}))


def test_what_was_not_asked_is_told() -> None:
    """With how often."""
    player = TapePlayer(tape(("f", {}, 1), ("f", {}, 2), ("g", {}, 3)))
    player.take(key_of("x", "f", {}))

    assert player.unused() == ["x f x 1", "x g x 1"]


def test_a_tape_that_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    """Its replies have no secrets."""
    recorder = TapeRecorder()
    recorder.add(key_of("x", "f", {"a": 1.0}), {"api_key": API_KEY, "text": "é\n\u2028"})
    recorder.add(key_of("x", "f", {"a": 1}), None, "/mcp?a=b")
    made = Tape(HEADER, recorder.entries())
    write_tape(tmp_path / "tapes/a.jsonl", made)

    assert read_tape(tmp_path / "tapes/a.jsonl") == made
    assert API_KEY not in (tmp_path / "tapes/a.jsonl").read_text()


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "a.jsonl:1: line: Invalid JSON"),
        ("{}\n", "a.jsonl:1: suite: Field required"),
        ('{"tape": 2}\n', "a.jsonl:1: tape: Input should be 1"),
        (HEADER.model_dump_json() + "\n?\n", "a.jsonl:2: line: Invalid JSON"),
        (HEADER.model_dump_json() + '\n{"path": "@evil/"}\n', "a.jsonl:2: "),
        (HEADER.model_dump_json() + '\n{"channel": 1}\n', "a.jsonl:2: channel: Input should be"),
    ],
)
def test_a_wrong_tape_is_named_with_its_line(tmp_path: Path, text: str, fact: str) -> None:
    """People edit tapes."""
    (tmp_path / "a.jsonl").write_text(text)

    with pytest.raises(SuiteUnusable, match=fact):
        read_tape(tmp_path / "a.jsonl")


def test_the_first_difference_is_the_first_by_key() -> None:
    """`true` is not 1."""
    assert difference({"b": 1, "a": {"c": 1}}, {"b": 2, "a": {"c": True}}) == ("$.a.c", 1, True)
