"""The comment: found again by its first line, short enough, and inert whatever runs hold."""

import datetime
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tracegrade_ci.check import NO_BASELINE, CheckResult, RunSteps
from tracegrade_ci.comment import FIRST_LINE, MOST_BYTES, comment_text, marker
from tracegrade_ci.run import CheckRequest, check_lake
from tracegrade_ci.steps import MOST_RUNS
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.rule_outcomes import RuledComparison

from .lakes import BASE, CANDIDATE, Sample, sample

HOSTILE = (
    '"; curl x | sh # $(id) `id` ```\n<img src=x onerror=alert(1)> [a](//b) ![](//c) @team #1'
)
OWN_HTML = re.compile(
    r"<!-- tracegrade:agents -->|<details><summary>[^<>]*</summary>|</details>|</?summary>"
)


def tokens(comment: str) -> Iterator[Token]:
    """Yield what a reader of Markdown finds in a comment, also within lines."""
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(comment):
        yield token
        yield from token.children or ()


def acting(comment: str) -> list[str]:
    """Return the parts of a comment that act: foreign HTML, links, pictures."""
    found = [*tokens(comment)]
    html = "".join(each.content for each in found if each.type in {"html_block", "html_inline"})
    links = [each.type for each in found if each.type in {"link_open", "image"}]
    return [*links, *re.findall(r"<[^>]*>?", OWN_HTML.sub("", html))]


def with_steps(*steps: RunSteps) -> CheckResult:
    """Return a result of no cohort whose comment shows these steps."""
    ruled = RuledComparison(Comparisons("lake", BASE, CANDIDATE), ())
    return CheckResult("pass", CANDIDATE, 1, datetime.timedelta(14), ruled=ruled, steps=steps)


def fences(comment: str) -> list[str]:
    """Return the contents of fenced blocks."""
    return [each.content for each in tokens(comment) if each.type == "fence"]


def test_steps_that_broke_are_shown(candidate: Sample, baseline: Path) -> None:
    """The run that shows a new failure mode comes first, its step is marked."""
    request = CheckRequest(str(candidate.lake), baseline, CANDIDATE, fail_on=("new-failure-mode",))

    comment = comment_text(check_lake(request, print), marker("agents"))

    assert FIRST_LINE.fullmatch(comment.splitlines()[0])
    blocks = fences(comment)
    assert len(blocks) == MOST_RUNS
    assert "shows premature commitment" in comment
    _, _, after = blocks[0].partition("\n→")
    assert after.split("\n")[1].endswith("(premature commitment)")
    assert acting(comment) == []


def test_hostile_names_end_as_text(tmp_path: Path) -> None:
    """An agent, a release, a tool or a task of any name is shown, and does nothing."""
    named = {name: name + HOSTILE for name in ("order-desk", "refund", "cancel-shipped")}
    named[CANDIDATE] = HOSTILE
    both = [
        sample(tmp_path / "base", BASE, rename={k: v for k, v in named.items() if k != CANDIDATE}),
        sample(tmp_path / "candidate", CANDIDATE, rename=named),
    ]
    for each in both:
        each.score()
    assert both[0].export(tmp_path / "out", "--commit", HOSTILE).returncode == 0
    files = ["--markdown", tmp_path / "c.md", "--outputs", tmp_path / "o"]

    done = both[1].check(tmp_path / "out", *files, candidate=HOSTILE)

    assert done.returncode == 1
    comment = (tmp_path / "c.md").read_text()
    assert acting(comment) == []
    assert '"; curl x' in comment
    assert (tmp_path / "o").read_text() == "verdict=fail\nbaseline-age-days=0\n"
    assert "\n<img" not in done.stdout + done.stderr


@given(st.lists(st.text(max_size=80), min_size=1, max_size=5), st.text(max_size=80))
def test_no_step_leaves_its_fence(texts: Sequence[str], title: str) -> None:
    """Lines of steps are made visible and indented before; here they have any characters."""
    lines = tuple(f"     {line}" for text in texts for line in text.splitlines() if line.strip())
    comment = comment_text(
        with_steps(RunSteps("0" * 32, title, lines or ("x",))), marker("agents")
    )

    assert len(fences(comment)) == 1
    assert acting(comment) == []


def test_long_comment_is_cut_between_parts() -> None:
    """GitHub would refuse it; what is left out is counted."""
    steps = [RunSteps(f"{number:032x}", "failed", ("é" * 9_000,)) for number in range(5)]

    comment = comment_text(with_steps(*steps), marker("agents"))

    assert 50_000 < len(comment.encode()) <= MOST_BYTES
    assert comment.endswith(
        "2 parts of this comment did not fit; `tracegrade compare` prints all.\n"
    )
    assert len(fences(comment)) == 3


@pytest.mark.parametrize("reason", ["it's <b>gone</b>", HOSTILE])
def test_reason_is_escaped(reason: str) -> None:
    """It may name a file or a task."""
    result = CheckResult(NO_BASELINE, HOSTILE, 1, datetime.timedelta(14), reason=reason)

    assert acting(comment_text(result, marker("agents"))) == []


@pytest.mark.parametrize("name", ["", "a b", "-->", "a\nb", "é", "x" * 61, "a--"])
def test_names_that_could_end_the_first_line_are_refused(
    candidate: Sample, tmp_path: Path, name: str
) -> None:
    """Before anything is written."""
    done = candidate.check(tmp_path / "none", "--name", name, "--markdown", tmp_path / "c.md")

    assert done.returncode == 2
    assert "--name must be" in done.stderr
    assert not (tmp_path / "c.md").exists()
