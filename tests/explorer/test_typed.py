"""What one types in the filter of a list is what an address says, and is offered as one types."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tracegrade_explorer.filters.grammar import KEYS
from tracegrade_explorer.filters.typed import typed_pairs, typed_words, written


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.text())))
def test_conditions_are_read_as_they_are_written(pairs: list[tuple[str, str]]) -> None:
    """Whatever stands in a value: spaces, quotes, signs of the grammar."""
    assert typed_pairs(" ".join(written(*pair) for pair in pairs)) == pairs


@given(st.text())
def test_nothing_that_is_typed_is_lost(text: str) -> None:
    """Words stand in order, and what is between them is space, or an empty pair of quotes."""
    end = 0
    for word in typed_words(text):
        assert not text[end : word.start].strip()
        end = word.end
    assert not text[end:].strip()


def test_words_without_a_key_are_looked_for_in_requests() -> None:
    """In their order, as one text; a key that nothing follows has no value yet."""
    assert typed_pairs("process release=1.0 the uploads") == [
        ("release", "1.0"), ("request", "process the uploads"),
    ]  # fmt: skip
    assert typed_pairs("task=") == [("task", "")]


def offered(web: TestClient, typed: str, **filtered: str) -> list[str]:
    """Return what may be typed next."""
    found = web.get("/completions.json", params={"typed": typed, **filtered}).json()
    return [typed[: found["from"]] + choice["text"] for choice in found["choices"]]


def test_keys_and_names_are_offered(web: TestClient) -> None:
    """Keys by their beginning or their label; names by frequency within the rest of the filter."""
    assert offered(web, "rel") == ["release="]
    assert "outcome=failed steps=" in offered(web, "outcome=failed step")
    assert offered(web, "release=1.") == ["release=1.0 ", "release=1.1 "]
    assert offered(web, "release=", agent="files") == offered(web, "release=1.", agent="files")
    assert offered(web, "release=1.1") == ["release=1.1 "]
    assert offered(web, "sort=-", release="1.1") == []
    assert offered(web, "level=s") == ["level=sub_agent "]
    assert offered(web, "tsa=")[-1] == "tsa=~ "


def test_conversations_are_offered(web: TestClient) -> None:
    """Names that contain the typed text in any case; and the entry for unknown."""
    assert offered(web, "conversation=K") == ["conversation=k "]
    assert offered(web, "conversation=") == ["conversation=k ", "conversation=~ "]
    assert offered(web, "conversation=nothing") == []


def test_what_is_offered_is_what_the_filter_has(web: TestClient) -> None:
    """Its counts lead to as many runs, and each can be taken as it stands."""
    found = web.get("/completions.json", params={"typed": "task=", "release": "1.0"}).json()
    assert found["choices"]
    for choice in found["choices"]:
        page = web.get("/runs", params={"typed": choice["text"], "release": "1.0"})
        assert page.status_code == 303
        runs = web.get(page.headers["location"].replace("/runs?", "/runs.json?")).json()["runs"]
        assert choice["hint"].endswith(f"{runs} runs" if runs > 1 else f"{runs} run")


@pytest.mark.parametrize("typed", ["relaese=1.0", "tsa=much", 'sort="newest first"'])
def test_what_is_not_understood_is_said(web: TestClient, typed: str) -> None:
    """On a page, as of an address."""
    assert web.get("/runs", params={"typed": typed}).status_code == 400


def test_completions_are_no_page(web: TestClient) -> None:
    """They are for programs; the message says where."""
    assert web.get("/completions").status_code == 404
    assert "/completions.json" in web.get("/completions").text
