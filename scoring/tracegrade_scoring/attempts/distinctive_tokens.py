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

A number directly after a bracket or a comma is an item of a list: [101,202] holds two numbers.
"""

_REWRITTEN: Final = r"^(?:[.\[,]|[+-]?[0-9]+(?:,|\.[0-9]*0$))"
"""The beginnings of tokens that can be written in other ways; few tokens can."""

_DECIMALS: Final = r"^([+-]?[0-9]+)(?:\.0+|(\.[0-9]*[1-9])0+)$"
"""A number with redundant zeros at its end: 1.0 = 1."""

_ESCAPE: Final = re.compile(r"\\(?:u00([0-7][0-9a-f])|u[0-9a-f]{4}|.)")
"""An escape of JSON; its code is of a character that can be in a token."""


def distinctive_tokens(texts: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each distinctive token of each text, with the text's other columns.

    A token is a maximal run of [A-Za-z0-9_.@+-], without dots around it and without thousands
    separators (a number directly after a bracket or a comma has none); 1.0 = 1. A token is
    distinctive if it is a number of three digits, or has four characters with a digit or @ among
    them. Escapes of JSON are read as their characters. A token that occurs twice in a text has two
    rows. A text without tokens, or NULL, has none.

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
    """Return the texts, with JSON escapes removed, so that their letters are not in tokens."""
    is_escaped = texts["text"].str.contains("\\", literal=True).fill_null(False)
    escaped = texts.filter(is_escaped)
    read = pl.Series("text", [_read(text) for text in escaped["text"]], pl.String)
    return pl.concat([texts.filter(~is_escaped), escaped.with_columns(read)])


def _read(text: str) -> str:
    """Return a text of JSON with characters, or blanks, instead of escapes; others unchanged."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return _ESCAPE.sub(lambda escape: chr(int(escape[1] or "20", 16)).lower(), text)
