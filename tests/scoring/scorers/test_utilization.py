"""Uses of results agree with their plain definition on random texts."""

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scoring.build import Row, call, connection, scored, specification, trajectory

from tracegrade_scoring.attempts.distinctive_tokens import distinctive_tokens

RUNS = 150
EXAMPLES = 5
"""With RUNS: 750 random runs."""

PIECES = (
    *("o-7", "O-71", "171", "1,171", "1171.0", "0.50", ".5", "a@b.", "is", " ", " ", ", ", "é"),
    *("[", "[171,", ",171", "]"),
)
TASK = "{version: 1, tools: {w: {effect: write}}, tasks: {t: {expected: [{tool: r}]}}}"


def plain_tokens(text: str | None) -> list[str]:
    """Return the distinctive tokens of a text, read off one after another."""
    runs = re.findall(
        r"(?<![\[,])[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?\b|[a-z0-9_.@+-]+",
        (text or "").lower(),
        re.ASCII,
    )
    tokens = [plain_value(run.strip(".").replace(",", "")) for run in runs]
    return [t for t in tokens if re.search(r"^[0-9]{3}$|^(?=.*[0-9@]).{4,}$", t)]


def plain_value(token: str) -> str:
    """Return a number without decimals that say nothing, any other token as it is."""
    is_decimal = re.fullmatch(r"[+-]?[0-9]+\.[0-9]+", token)
    return token.rstrip("0").rstrip(".") if is_decimal else token


def plain_uses(steps: Sequence[Row]) -> dict[int, bool]:
    """Return by index the calls whose results have tokens, and whether a token appears later."""
    found = {}
    calls = [step for step in steps if step["kind"] == "tool_call"]
    for i, one in enumerate(calls):
        tokens = set(plain_tokens(one["result"]))
        if tokens and one["status"] == "ok" and one["tool_name"] != "w":
            later = [step for step in steps if step["step_index"] > one["step_index"]]
            found[i] = any(tokens & set(plain_tokens(told_in(step))) for step in later)
    return found


def told_in(step: Row) -> str | None:
    """Return what the agent tells in a step; what its user says and it thinks is not told."""
    if step["kind"] == "tool_call":
        return str(step["arguments"])
    return step["content"] if step["kind"] != "thought" and step["role"] != "user" else None


def random_text(random: Random) -> str:
    """Return a text of a few tokens, or what looks like them."""
    return "".join(random.choices(PIECES, k=random.randint(0, 7)))


def random_step(random: Random, run: str, step_index: int) -> dict[str, Any]:
    """Return a call or something said; some calls fail, some write."""
    if random.random() < 0.6:
        status = random.choice(("ok", "ok", "ok", "error"))
        given = {"arguments": random_text(random), "result": random_text(random), "status": status}
        return dict(call(run, step_index, random.choice("rrrw"), **given))
    kind, role = random.choice(
        (("message", "user"), ("message", "assistant"), ("answer", None), ("thought", "assistant"))
    )
    said = {"kind": kind, "role": role, "content": random_text(random)}
    return {"trajectory_id": run, "step_index": step_index, **said}


@given(st.lists(st.sampled_from((*PIECES, *"0123,.-+@_xK[")), max_size=12).map("".join))
@settings(max_examples=300, deadline=None)
def test_tokens_are_those_of_the_definition(text: str) -> None:
    """Whatever stands beside what: separators, decimals, dots, signs and lists."""
    found = distinctive_tokens(pl.DataFrame({"text": [text.lower()]}, schema={"text": pl.String}))

    assert sorted(found["token"]) == sorted(plain_tokens(text))


@given(
    st.lists(st.sampled_from((*PIECES, "\n", '"', "\\", "\t", "\0", "€", "x", "12"))).map("".join),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_json_has_the_tokens_of_its_texts(text: str, ascii_alone: bool) -> None:
    """However it escapes them."""
    written = json.dumps({"k": text}, ensure_ascii=ascii_alone)
    found = distinctive_tokens(pl.DataFrame({"text": [written.lower()]}))

    assert sorted(found["token"]) == sorted(plain_tokens(text))


@given(st.integers(min_value=0))
@settings(max_examples=EXAMPLES, deadline=None)
def test_uses_are_those_of_the_definition(seed: int) -> None:
    """Results of calls that went well and changed nothing, compared with later texts."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    runs = {
        f"t{n}": [random_step(random, f"t{n}", i) for i in range(random.randint(0, 8))]
        for n in range(RUNS)
    }
    steps = [step for run in runs.values() for step in run]
    random.shuffle(steps)
    con = connection(steps, [trajectory(run, task_id="t") for run in runs])
    scored(con, specification(TASK), until="tool_correctness")

    found = con.sql("SELECT attempt_id, call_index, used FROM utilizations").fetchall()
    expected = {(run, i): used for run, s in runs.items() for i, used in plain_uses(s).items()}
    assert len(found) == len(expected)
    assert {(run, i): used for run, i, used in found} == expected
