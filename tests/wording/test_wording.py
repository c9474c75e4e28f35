"""Wording gets plainer and never worse, and messages are in one file."""

import pytest
from tests.wording.findings import MESSAGES, budget, counts, findings, messages, named_by_git, read
from tests.wording.rules import PATTERNS, RULES

HINT = "run `python -m tests.wording` to see them, and `--write` where there are fewer"


def test_wording_is_as_the_budget_says() -> None:
    """Each rule is broken as often as the budget has; where it is less, the budget falls."""
    assert counts(read(named_by_git("ls-files"))) == budget(), HINT


def test_messages_are_in_one_file() -> None:
    """A change of a message shows there; `python -m tests.wording --write` writes it."""
    assert MESSAGES.read_text("utf-8") == messages(), "run `python -m tests.wording --write`"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("told", "The lander is told of their end."),
        ("heard", "Each message that was heard."),
        ("is no", "'a.jsonl:3' is no line of a run"),
        ("of which", "3 trials of which no score knows"),
        ("what-clause", "What of an agent's telemetry is the agent's to say."),
        ("of-opener", "Of a model span."),
        ("nobody", "somebody has locked what the query reads"),
        ("beside", "Next comes the file beside it."),
        ("is to", "It gets what is to end later."),
        ("stands in", "The name stands in the file."),
        ("go on", "The agent goes on."),
        ("at hand", "Where no model is at hand"),
        ("nor", "It is not read, nor is it kept."),
        ("ours", "This directory is ours."),
        ("comes to", "What became of it"),
        ("says of", "It says nothing."),
        ("anew", "The table is made anew."),
        ("such-opener", "Such is the rule."),
    ],
)
def test_each_rule_finds_what_it_is_for(rule: str, text: str) -> None:
    """In a document as in a docstring, a comment, a message and the header of a query."""
    found = {
        kind: {(one.line, one.rule) for one in findings(file, written)}
        for kind, file, written in (
            ("document", "docs/a.md", f"# Title\n\n```\ncode\n```\n\n- item\n- {text}\n"),
            ("cell", "docs/a.md", f"\n\n\n\n\n\n| {text} |\n"),
            (
                "docstring",
                "queries/a.py",
                f'\n\n\ndef f():\n    """Return it.\n\n    {text}\n    """\n',
            ),
            ("comment", "queries/a.py", f"x = 1\n\n\n\n\n\n# {text}\n"),
            ("message", "queries/a.py", f'\n\n\n\n\n\nx = f"{text}"\n'),
            ("query", "queries/a.sql", f"-- One.\n--\n--\n--\n--\n--\n-- {text}\nSELECT 1\n"),
        )
    }

    assert {kind for kind, places in found.items() if (7, rule) not in places} == set()
    assert RULES.keys() == PATTERNS.keys()


def test_code_and_plain_words_break_no_rule() -> None:
    """Backticks hide a name, and what only looks alike is let be."""
    plain = (
        "There is no file `beside it`. To go on to the next page is no longer needed. Of course."
    )
    assert findings("docs/a.md", plain) == []
