"""Pages of a comparison, and what programs get: the same facts in every format, and no more."""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape

import pytest
from markdown_it import MarkdownIt
from tests.scoring.report.build import Tables
from tests.scoring.report.test_hostile import Page

from tracegrade_scoring.compare.as_csv import render_csv
from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.fail_on_rules import parse_rules
from tracegrade_scoring.compare.html import render_html
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.compare.texts import render_markdown, render_terminal
from tracegrade_scoring.compare.view import cohort_view


def test_every_format_says_the_same(found: Comparisons) -> None:
    """A difference, its interval, the new mode and the caution about few samples."""
    ruled = apply_rules(found, parse_rules(["tsa<-0.02"]))
    texts = (
        render_terminal(ruled, width=200, color=False),
        render_markdown(ruled).replace("\\", ""),
        " ".join(unescape(render_html(ruled)).split()),
    )

    for text in texts:
        for fact in (
            "+11.7 pts",
            "Trade-off: 1.1 picks tools better but plans worse",
            "Small samples",
            "1 task that only 1.0 ran",
            "runs without a known task, 0 of 13 (1.0) and 1 of 14 (1.1)",
            "sub-goal completion says the opposite",
            "held",
        ):
            assert fact in text
    answer = "Nothing changed between 1.0 and 1.1 beyond chance, over 7 metrics."
    assert [answer in text for text in texts] == [True, True, False]
    assert texts[-1].count('class="verdict"') == 1


@pytest.mark.parametrize("name", ["1.1", "2f6f0d7e1e5b4d0e9a1c77c1b2d3e4f5a6b7c8d9"])
@pytest.mark.parametrize("width", [50, 80, 200])
def test_run_ids_and_numbers_are_whole_at_any_width(
    found: Comparisons, width: int, name: str
) -> None:
    """The command to copy is on one line, for any names of the releases."""
    (mode,) = found.cohorts[0].failure_modes
    shown = replace(
        found.cohorts[0], failure_modes=(mode._replace(trajectory_id="f392c0cd4a41170a"),)
    )
    ruled = apply_rules(replace(found, base=name, candidate=name, cohorts=(shown,)), [])
    text = render_terminal(ruled, width=width, color=False)

    assert max(map(len, text.splitlines())) <= max(width, 76)
    assert re.search(r"\ne\.g\. f392c0cd4a41\s", text)
    view = cohort_view(shown, found)
    for row in view.rows:
        numbers = re.escape(" ".join(row[1:5]).rstrip()).replace(r"\ ", " +")
        assert re.search(rf"{numbers}( |\n)", text), row


def test_interval_without_width_is_no_certainty(tables: Tables) -> None:
    """Every task rose by the same: pages say `no interval`, programs get the ends and a flag."""
    for side, release in enumerate("12"):
        for place in range(6):
            run_id = tables.run(release, task_id=f"t{place}")
            tables.scored(run_id, f"t{place}")
            tables.score(run_id, "tsa", 0.5 + side / 4, numerator=2.0 + side, denominator=4.0)
    ruled = apply_rules(read_comparisons(tables.con, "lake", "1", "2"), [])
    tsa = json.loads(render_json(ruled))["comparisons"][0]["metrics"]["tsa"]

    assert (tsa["low"], tsa["high"]) == (0.25, 0.25)
    assert "no_spread" in tsa["flags"]
    for page in (render_terminal(ruled, width=200, color=False), render_markdown(ruled)):
        assert "no interval" in page
        assert "all tasks changed by the same amount" in page


def test_metric_without_a_task_in_common_is_named(tables: Tables) -> None:
    """A value on one side, of different tasks, does not make a pair; a page says only that."""
    for release, failing in (("1", "a"), ("2", "b")):
        for task in "ab":
            run_id = tables.run(release, task_id=task)
            tables.scored(run_id, task)
            tables.score(run_id, "success", 1.0, numerator=1.0, denominator=1.0)
            found = {"numerator": 1.0, "denominator": 2.0} if task == failing else {}
            tables.score(run_id, "recovery_rate", 0.5 if found else None, **found)
    ruled = apply_rules(read_comparisons(tables.con, "lake", "1", "2"), [])

    assert json.loads(render_json(ruled))["comparisons"][0]["unmatched"] == ["recovery_rate"]
    text = render_terminal(ruled, width=200, color=False)
    assert "Measured in both releases, but on no common task: Recovered from failures." in text
    assert "Success by task category" not in text


def test_programs_get_unrounded_numbers(found: Comparisons) -> None:
    """JSON and CSV hold the same doubles."""
    ruled = apply_rules(found, [])
    document = json.loads(render_json(ruled))["comparisons"][0]
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(render_csv(ruled)))}

    assert document["metrics"]["tsa"]["candidate"] == 104 / 120
    assert float(rows["tsa"]["candidate"]) == 104 / 120
    assert document["trade_off"] == "tsa_up_pq_down"


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\x00| `x` [y](javascript:z)"


def test_tasks_that_rose_and_a_rate_that_rose_are_two_fields(found: Comparisons) -> None:
    """Of a failure mode: on one task more runs show it than before, and its rate is higher."""
    (cohort,) = json.loads(render_json(apply_rules(found, ())))["comparisons"]
    (mode,) = cohort["failure_modes"]

    assert (mode["rose"], mode["fell"], mode["rate_rose"]) == (1, 0, True)
    assert mode["rose"] is not True


def test_hostile_names_are_text(tables: Tables) -> None:
    """Neither a terminal nor a Markdown reader acts on what a trace calls its tasks."""
    for release in ("1", "2"):
        for trial in range(2):
            run_id = tables.run(release, HOSTILE, task_id=HOSTILE, trial=trial)
            tables.scored(run_id, HOSTILE)
            value = float(release == "1")
            tables.score(run_id, "success", value, numerator=value, denominator=1.0)
    ruled = apply_rules(read_comparisons(tables.con, HOSTILE, "1", "2"), parse_rules(["tsa<0"]))
    page = render_markdown(ruled)

    for text in (render_terminal(ruled, width=90, color=False), page, render_csv(ruled),
                 render_html(ruled)):  # fmt: skip
        assert not {"\x1b", "\u202e", "\x00"} & set(text)
    plain = render_html(apply_rules(read_comparisons(tables.con, "lake", "1", "2"), []))
    hostile, usual = Page(render_html(ruled)), Page(plain)
    assert hostile.tags == usual.tags
    assert not {"src", "onload", "onerror", "style"} & {name for name, _ in hostile.attributes}
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert not kinds & {"link_open", "image", "html_inline"}
    assert render_json(ruled).isascii()
