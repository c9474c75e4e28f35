"""Tools with which a judge reads a run and its documents, in parts that a model can hold."""

import json

from tracegrade_judges.ask.prompts import ANSWER
from tracegrade_judges.ask.reader_tools import LISTED_STEPS, PAGE_CHARACTERS, RunReader
from tracegrade_judges.verdict import JudgedStep

NONCE = "n" * 32


def reader(steps: int = 0, **documents: str) -> RunReader:
    """Return the tools for a run of so many calls."""
    calls = [
        JudgedStep(number, "tool_call", None, "look", "ok", {"result": f"result {number}"})
        for number in range(steps)
    ]
    return RunReader(calls, documents, NONCE)


def text_of(answer: str) -> str:
    """Return the quoted text of an answer."""
    return str(json.loads(answer[answer.index('"') : answer.rindex('"') + 1]))


def test_a_long_run_is_listed_in_parts() -> None:
    """The end of each part says where the next one begins, and all parts have all steps."""
    run = reader(2 * LISTED_STEPS + 30)
    listed: list[str] = []
    begin = 0
    for _ in range(2):
        *lines, more = text_of(run.list_steps(begin)).split("\n")
        listed += lines
        begin = int(more.rsplit(" ", 1)[1])
    listed += text_of(run.list_steps(begin)).split("\n")

    assert more == f"30 more, from step {2 * LISTED_STEPS}"
    assert [int(line.split()[0]) for line in listed] == list(range(2 * LISTED_STEPS + 30))
    assert "result 217" in text_of(run.search_steps("RESULT 217"))


def test_a_document_is_read_by_pages() -> None:
    """A policy that is longer than a page is all there; the answer about another names it."""
    policy = "".join(f"rule {number}\n" for number in range(1_000))
    run = reader(policy=policy)

    pages = [run.read_document("policy", page) for page in range(3)]

    assert pages[0].startswith("page 0 of 0 to 2\n")
    assert len(text_of(pages[0])) == PAGE_CHARACTERS
    assert "".join(map(text_of, pages)) == policy
    assert run.read_document("prices") == "there is no such document; known: policy"


def test_a_judge_of_answers_is_told_to_be_strict() -> None:
    """Spelling costs a little, a missing part more, and a wrong fact nearly all [Agentic]."""
    said = " ".join(ANSWER.split())

    assert "0.85 to 0.95: the same with small typing or spelling mistakes" in said
    assert "0.5 to 0.7: right, but a part that was asked for is missing" in said
    assert "Below 0.3: any fact is wrong" in said
