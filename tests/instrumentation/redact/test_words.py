"""Words that occur in a text are found, however they overlap."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tracegrade.redact.words import Words

WORDS = st.text("ab", min_size=1, max_size=5)


@given(st.sets(WORDS, min_size=1, max_size=8), st.text("abc", max_size=12))
def test_words_are_those_inside_of_the_text(words: set[str], text: str) -> None:
    """A match of one hides none that begins in it or holds another."""
    assert Words(re.compile, words).inside(text) == {word for word in words if word in text}
