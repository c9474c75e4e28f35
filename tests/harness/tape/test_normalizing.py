"""A call with a date, an id or a temporary path is the recorded one, where a suite says so."""

from pathlib import Path
from typing import Any

import pytest

from tracegrade_harness.suite.normalize import Normalized
from tracegrade_harness.tape.entries import (
    Tape,
    TapeEntry,
    TapeHeader,
    TapeKey,
    canonical,
    key_of,
    read_tape,
    write_tape,
)
from tracegrade_harness.tape.normalizing import MAX_WORK, Normalizer
from tracegrade_harness.tape.player import TapeMiss, TapePlayer, TapeRecorder

DATE = (r"\d{4}-\d\d-\d\d", "DATE")
HEADER = TapeHeader(
    suite="s", case="c", agent="a", release=None, recorded="2026-01-01", version="1"
)


def normalizer(*rules: tuple[str, str]) -> Normalizer:
    """Return what compares by patterns and their replacements."""
    given = [{"pattern": pattern, "with": instead} for pattern, instead in rules]
    return Normalizer([Normalized.model_validate(each) for each in given])


def asked(arguments: Any, name: str = "POST /v1/chat", channel: str = "http:m") -> TapeKey:
    """Return the key of a call."""
    return key_of(channel, name, arguments)


@pytest.mark.parametrize(
    ("rules", "recorded", "again"),
    [
        ([DATE], {"prompt": "Today is 2026-01-02."}, {"prompt": "Today is 2027-11-30."}),
        ([DATE], {"a": [{"b": "2026-01-02"}]}, {"a": [{"b": "2027-11-30"}]}),
        ([(r"/scratch/\w+", "TEMP")], {"path": "/scratch/x1/log"}, {"path": "/scratch/y22/log"}),
        ([(r"^\d{10}$", "TIME")], {"at": 1700000000}, {"at": 1800000001}),
        ([(r"run-\w+", "R"), ("R of .*", "X")], {"a": "run-1 of 2"}, {"a": "run-x of y"}),
        ([(r"é\w", "")], {"a": "é1ü"}, {"a": "éxü"}),
    ],
    ids=["prompt", "inside", "path", "number", "one after another", "other letters"],
)
def test_what_a_pattern_fits_is_the_same(
    rules: list[tuple[str, str]], recorded: Any, again: Any
) -> None:
    """Without the pattern it is another call."""
    entries = [TapeEntry(asked(recorded), "said")]

    assert TapePlayer(entries, normalizer(*rules)).take(asked(again)) == "said"
    with pytest.raises(TapeMiss):
        TapePlayer(entries).take(asked(again))


@pytest.mark.parametrize(
    ("recorded", "again"),
    [
        (asked({}, "GET /days/2026-01-02"), asked({}, "GET /days/2027-11-30")),
        (asked({"d": "2026-01-02"}, "tools/call f"), asked({"d": "2027-11-30"}, "tools/call f")),
    ],
    ids=["path", "tool"],
)
def test_requests_are_the_same_by_path_and_tools_by_arguments(
    recorded: TapeKey, again: TapeKey
) -> None:
    """Each channel has its calls."""
    assert TapePlayer([TapeEntry(recorded, 1)], normalizer(DATE)).take(again) == 1


@pytest.mark.parametrize(
    "other",
    [
        asked({"a": "2026-01-02!"}),
        asked({"2026-01-02": "a"}),
        asked({"a": "2026-01-02"}, "tools/call 2026-01-02", "mcp:m"),
        asked({"a": "2026-01-02"}, channel="http:2026-01-02"),
        asked({"a": True}),
    ],
    ids=["text beside", "key", "tool", "channel", "truth"],
)
def test_what_no_pattern_is_for_stays_another_call(other: TapeKey) -> None:
    """Names of tools, keys and services, and all beside a match."""
    entries = [
        TapeEntry(asked({"a": "2026-01-02"}), 1),
        TapeEntry(asked({"2027-01-02": "a"}), 1),
        TapeEntry(asked({"a": "2026-01-02"}, "tools/call 2027-01-02", "mcp:m"), 1),
    ]
    with pytest.raises(TapeMiss):
        TapePlayer(entries, normalizer(DATE, ("true", "false"))).take(other)


def test_equal_calls_get_their_replies_in_the_order_in_which_they_were_recorded(
    tmp_path: Path,
) -> None:
    """Also where the tape counts them as different ones."""
    days = ["2026-01-01", "2026-01-01", "2026-01-02", "2026-01-01"]
    recorder = TapeRecorder()
    for number, day in enumerate(days):
        recorder.add(asked({"day": day}), number)
    write_tape(tmp_path / "tape.jsonl", Tape(HEADER, recorder.entries()))
    player = TapePlayer(read_tape(tmp_path / "tape.jsonl").entries, normalizer(DATE))

    assert [player.take(asked({"day": "2027-02-03"})) for _ in days] == [0, 1, 2, 3]


def test_a_tape_keeps_what_was_said(tmp_path: Path) -> None:
    """Patterns may change without another recording."""
    recorder = TapeRecorder()
    recorder.add(asked({"day": "2026-01-01"}), "on 2026-01-01")
    tape = Tape(HEADER, recorder.entries())
    player = TapePlayer(tape.entries, normalizer(DATE))
    write_tape(tmp_path / "tape.jsonl", tape)

    assert '{"day": "2026-01-01"}' in (tmp_path / "tape.jsonl").read_text()
    assert [*map(str, player.calls("http:m"))] == [str(tape.entries[0].key)]
    assert player.take(asked({"day": "2027-02-03"})) == "on 2026-01-01"


def test_a_miss_tells_of_what_is_compared() -> None:
    """The date is not what differs."""
    recorded = {"a": "on 2026-01-01", "b": 1}
    player = TapePlayer([TapeEntry(asked(recorded), 1)], normalizer(DATE))

    with pytest.raises(TapeMiss, match=r"the nearest has 1 at \$\.b instead of 2"):
        player.take(asked({"a": "on 2027-02-03", "b": 2}))
    assert player.unused() == ["http:m POST /v1/chat x 1"]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}b"])
def test_no_pattern_takes_exponential_time(pattern: str) -> None:
    """With backtracking these would outlive the test."""
    key = asked({"text": "a" * 20_000 + "!"})

    assert normalizer((pattern, "X"))(key) == key


def test_how_often_a_pattern_may_look_at_the_rest_of_a_text_is_bounded() -> None:
    """The first matches are replaced, and each of them has looked as far as the end."""
    text = "a" * 400_000
    key = asked({"text": text})
    most = MAX_WORK // (len(key.name) + len(key.arguments))
    assert most < len(text)

    found = normalizer(("a.*b|a", "-"))(key)

    assert found.arguments == canonical({"text": "-" * most + text[most:]})


def test_nothing_is_put_where_nothing_was() -> None:
    """At the edges of words, say."""
    assert normalizer((r"\b", "X"))(asked({"a": "b c"})) == asked({"a": "b c"})


def test_what_is_nested_deeply_is_compared() -> None:
    """As deep as scores read, and as a text beyond."""
    deep: Any = "2026-01-01"
    for _ in range(150):
        deep = [deep]
    assert "DATE" in normalizer(DATE)(asked({"a": deep})).arguments
    for _ in range(300):
        deep = [deep]
    assert isinstance(normalizer(DATE)(asked({"a": deep})), TapeKey)
