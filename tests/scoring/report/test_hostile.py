"""Whatever a trace calls its tasks, tools and agents, its report shows text and does nothing."""

import json
import re
import unicodedata
from contextlib import closing
from functools import cache
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from tests.scoring.report.build import Tables
from tests.slow import slow_after

from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.report.texts import render_markdown, render_terminal

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a>",
    '" onload="alert(1)" x="',
    "[x](javascript:alert(1)) ![x](https://evil.example/x.png) <https://evil.example>",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;https://evil.example\x1b\\x\x1b]8;;\x1b\\ \x9b2J",
    "\u202egnp.exe\u2066\u200b\ufeff null\x00byte",
    "a\nb\r\n# heading\u2028\u0085\x0b| c | d |",
    "a | b `code` ``more`` \\| \\",
    "[bold red]x[/bold red] [/nope] [link=https://evil.example]x[/link]",
    "</style></svg></table><script>alert(1)</script>-->]]>--!><!--",
    "' onmouseover='alert(1)",
    "https://evil.example/?q=1 www.evil.example a@evil.example",
    "| --- | `<script>alert(1)</script>",
    "```\n<script>alert(1)</script>\n```",
    "{{ 7 * 7 }}{% raw %} &lt;script&gt; &#60; datum.x'] + alert(1) + ['",
    "x" * 5000,
    "",
)


GROUPS = slow_after(2, [(HOSTILE[place : place + 4],) for place in range(0, len(HOSTILE), 4)])
"""Texts that agents of one report are full of, those that are like none before them first."""


def plain(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return as many texts that nothing has to be done about."""
    return tuple(f"plain {number}" for number in range(len(texts)))


@cache
def report_full_of(*texts: str) -> Report:
    """Return a report of agents where every text of a trace or a task file is one of these."""
    with closing(Tables()) as tables:
        for text in texts:
            fill_with(tables, text)
        return tables.report(lake=texts[0])


def fill_with(tables: Tables, text: str) -> None:
    """Insert two releases in which every name and sentence is the given text."""
    for release in (text, text + "2"):
        run = tables.run(
            release, text, task_id=text, run_mode=text, error_count=1, tool_call_count=2
        )
        tables.scored(run, text)
        for metric in ("success", "tsa", "replans", "replan_given_failure"):
            tables.score(run, metric, 0.5, numerator=1.0, denominator=2.0)
        tables.score(run, "step_efficiency", None, reason=text)
        for metric in ("success", "tsa", "step_efficiency", "replan_given_failure", text):
            tables.release(
                metric, 0.5, release=release, agent_name=text, numerator=1.0, denominator=2.0,
                low=0.1, high=0.9, flags=[text], interval_method=text,
            )  # fmt: skip
        for missed in (False, True):
            tables.insert(
                "decisions", trajectory_id=run, decision_index=int(missed), decision=text,
                picked_tool=text, expected_tool=text + "?", correct=False, missed=missed,
                counted=True, failed_criteria=[text], reason=None if missed else text,
                task_id=text, release=release, span_id=text,
            )  # fmt: skip
        tables.insert(
            "sub_goals", trajectory_id=run, sub_goal=text, critical=True, attempted=False,
            completed=False, task_id=text, release=release,
        )  # fmt: skip
        left = {"leftovers": [{"object": text, "named_by": None}], "reason": text}
        for label, evidence in ((None, json.dumps(left)), ("not_applicable", text), (text, text)):
            tables.insert(
                "verdicts", trajectory_id=run, subject="rollback", kill_point=text, label=label,
                value=None if label else 0, source=text, evidence=evidence,
            )  # fmt: skip


@cache
def page_full_of(*texts: str) -> str:
    """Return the page of that report."""
    return render_html(report_full_of(*texts))


@cache
def screen_full_of(*texts: str) -> str:
    """Return that report as a terminal with colors gets it."""
    return render_terminal(report_full_of(*texts), width=90, color=True)


each_group = pytest.mark.parametrize("texts", GROUPS, ids=lambda texts: repr(texts[0])[:30])


def acting(text: str) -> set[str]:
    """Return the characters of a text that act instead of showing, line ends aside."""
    return {c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"}}


class Page(HTMLParser):
    """The elements of a page, as a browser's tokens."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect an element."""
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


@each_group
def test_html_has_only_its_own_elements(texts: tuple[str, ...]) -> None:
    """No element, handler or address in the page comes out of a trace."""
    usual, page = (Page(page_full_of(*each)) for each in (plain(texts), texts))

    assert page.tags == usual.tags
    assert {name for name, _ in page.attributes} == {name for name, _ in usual.attributes}
    assert all(v.startswith("#agent-") for name, v in page.attributes if name == "href")
    assert not {"src", "srcset", "action", "xlink:href"} & {name for name, _ in page.attributes}


@each_group
def test_html_shows_no_acting_character(texts: tuple[str, ...]) -> None:
    """Controls, overrides and zero-width characters stand as their codes, in plots too."""
    assert not acting(page_full_of(*texts))


@each_group
def test_terminal_gets_no_escape(texts: tuple[str, ...]) -> None:
    """Plain text has no control but line ends; with colors there are only our own."""
    report = report_full_of(*texts)

    assert not acting(render_terminal(report, width=90, color=False))
    assert not acting(re.sub(r"\x1b\[[\d;]*m", "", screen_full_of(*texts)))


@each_group
def test_terminal_colors_are_our_own(texts: tuple[str, ...]) -> None:
    """A text cannot choose a style: markup of the terminal library stays as it is written."""
    usual, given = (
        set(re.findall(r"\x1b\[[\d;]*m", screen_full_of(*each))) for each in (plain(texts), texts)
    )

    assert given <= usual


@each_group
def test_markdown_has_no_markup_of_a_trace(texts: tuple[str, ...]) -> None:
    """A Markdown reader finds no link, image or HTML, and as many cells as for a plain name."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    named = tuple(text or "empty" for text in texts)
    usual, tokens = (
        reader.parse(render_markdown(report_full_of(*each))) for each in (plain(texts), named)
    )

    kinds = {child.type for token in tokens for child in token.children or ()}
    assert not kinds & {"link_open", "image", "html_inline"}
    assert [t.type for t in tokens] == [t.type for t in usual]


def test_markdown_breaks_bare_addresses() -> None:
    """Addresses that GitHub would turn into links are split by a backslash."""
    text = render_markdown(report_full_of("see https://evil.example or www.evil.example"))

    sentences = re.sub(r"`+.*?`+", "", text)
    assert "https:" not in sentences.replace("https\\:", "")
    assert "www." not in sentences


@each_group
def test_json_keeps_texts_and_is_inert(texts: tuple[str, ...]) -> None:
    """Programs get the text as it is; on a terminal its JSON is ASCII without controls."""
    written = render_json(report_full_of(*texts))

    assert written.isascii()
    assert not acting(written)
    found = json.loads(written)["releases"]
    assert {(each["agent_name"], each["sub_goals"][0]["sub_goal"]) for each in found} == {
        (text, text) for text in texts
    }
