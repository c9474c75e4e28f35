"""A sentence in Markdown mentions no user, and the names of metrics stay as they are."""

import html
import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_scoring.rendering.markup import escape

MENTION: Final = re.compile(r"(?:^|[^A-Za-z0-9_])@[A-Za-z0-9]")
"""What GitHub takes for the name of a user or a team, in a text without markup."""
ISSUE: Final = re.compile(r"#[0-9]")


def without_markup(markdown: str) -> str:
    """Return the text that is left when a reader of Markdown has taken the markup away."""
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown))


@pytest.mark.parametrize("sentence", ["Worse: pass@1.", "pass@3 and pass^3, of 12 tasks"])
def test_names_of_metrics_can_be_copied(sentence: str) -> None:
    """No invisible character in pass@k."""
    assert without_markup(escape(sentence)) == sentence


@given(st.lists(st.sampled_from([*"@@##_-.([` \\aZ9é1", "@everyone", "team/x"])).map("".join))
def test_no_text_mentions_a_user_or_an_issue(text: str) -> None:
    """Wherever its @ and # stand."""
    shown = without_markup(escape(text))

    assert not MENTION.search(shown)
    assert not ISSUE.search(shown)
