"""Finds what can be recognized in another text: numbers of three digits, names with a digit.

Its own module because texts fall into very many tokens, which Polars takes apart and puts together
faster than anything else here. Source: docs/metrics.md, section 2.2.
"""

import re
from typing import Final

import orjson
import polars as pl

_RUNS: Final = (
    r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?-u:\b)"
    r"|[\[,]?[a-z_.+-]*[0-9@](?:[a-z0-9_.@+-]*[a-z0-9_@+-])?"
)
"""Numbers with thousands separators, and runs that hold a digit or @, without dots after them.

What stands right behind a bracket or a comma is an item of a list: [101,202] holds two numbers."""

_REWRITTEN: Final = r"^(?:[.\[,]|[+-]?[0-9]+(?:,|\.[0-9]*0$))"
"""How tokens begin that can be written in other ways; few do."""

_DECIMALS: Final = r"^([+-]?[0-9]+)(?:\.0+|(\.[0-9]*[1-9])0+)$"
"""A number with redundant zeros at its end: 1.0 = 1."""

_ESCAPE: Final = re.compile(r"\\(?:u00([0-7][0-9a-f])|u[0-9a-f]{4}|.)")
"""One of JSON; the code is that of a character which can stand in a token."""


def distinctive_tokens(texts: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each distinctive token of each text, with the text's other columns.

    A token is a maximal run of [A-Za-z0-9_.@+-], without dots around it and thousands separators
    (a number right behind a bracket or a comma has none), 1.0 = 1; distinctive is a number of
    three digits, or four characters with a digit or @ among them. Escapes of JSON are read as what
    they stand for. One that stands in a text twice has two rows; a text without any, or NULL, has
    none.

    Args:
        texts: Needs `text`, in lower case.
    """
    token, length = pl.col("token"), pl.col("token").str.len_bytes()
    runs = (
        _without_escapes(texts)
        .with_columns(pl.col("text").str.extract_all(_RUNS).alias("token"))
        .drop("text")
        .explode("token", empty_as_null=False, keep_nulls=False)
        .filter(length >= 3)
    )
    is_rewritten = runs.select(token.str.contains(_REWRITTEN)).to_series()
    bare = token.str.strip_chars_start("[,.").str.replace_all(",", "", literal=True)
    tokens = pl.concat(
        [
            runs.filter(~is_rewritten),
            runs.filter(is_rewritten).with_columns(bare.str.replace(_DECIMALS, "$1$2")),
        ]
    )
    numbers = tokens.filter(length == 3).filter(token.str.contains("^[0-9]{3}$"))
    return pl.concat([tokens.filter(length > 3), numbers])


def _without_escapes(texts: pl.DataFrame) -> pl.DataFrame:
    """Return the texts, JSON among them without escapes, whose letters are no part of a token."""
    is_escaped = texts["text"].str.contains("\\", literal=True).fill_null(False)
    escaped = texts.filter(is_escaped)
    read = pl.Series("text", [_read(text) for text in escaped["text"]], pl.String)
    return pl.concat([texts.filter(~is_escaped), escaped.with_columns(read)])


def _read(text: str) -> str:
    """Return a text of JSON with characters, or blanks, in place of escapes; another as it is."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return _ESCAPE.sub(lambda escape: chr(int(escape[1] or "20", 16)).lower(), text)
