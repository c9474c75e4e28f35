"""What acts on a screen is spelled out, and what people write is shown."""

import pytest

from tracegrade.terminal.visible import visible, visible_text


@pytest.mark.parametrize("name", ["می‌خواهم", "क्‍ष", "👩‍❤️‍👨 🏳️‍🌈"])
def test_joiners_inside_a_script_are_shown(name: str) -> None:
    """Without them a Persian or Hindi word is written otherwise, and one emoji becomes three."""
    assert visible(name) == visible_text(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ad\u200dmin", "ad\\u200dmin"),
        ("\u200dא", "\\u200dא"),
        ("א\u200c\u200cב", "א\\u200c\\u200cב"),
        ("א\u200bב", "א\\u200bב"),
        ("a\u202egnp", "a\\u202egnp"),
    ],
)
def test_what_could_hide_in_a_name_is_spelled_out(name: str, shown: str) -> None:
    """Joiners that join nothing, and all other characters without a width."""
    assert visible(name) == visible_text(name) == shown


def test_spaces_of_all_widths_are_shown_in_texts_alone() -> None:
    """They distinguish names."""
    text = "Que faire\u202f? Rien\u00a0!\n今日は\u3000晴れ"

    assert visible_text(text) == text
    assert visible("a\u00a0b") == "a\\xa0b"
    assert visible_text("a\tb\u2028c") == "a\\x09b\\u2028c"
