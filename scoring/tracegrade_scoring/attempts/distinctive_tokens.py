"""Finds what can be recognised in another text: numbers of three digits, names with a digit.

Its own module because texts fall into very many tokens, which Polars takes apart and puts together
faster than anything else here. Source: docs/metrics.md, section 2.2.
"""

from typing import Final

import polars as pl

_RUNS: Final = (
    r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?-u:\b)"
    r"|[a-z_.+-]*[0-9@](?:[a-z0-9_.@+-]*[a-z0-9_@+-])?"
)
"""Numbers with thousands separators, and runs that hold a digit or @, without dots after them."""

_REWRITTEN: Final = r"^(?:\.|[+-]?[0-9]+(?:,|\.[0-9]*0$))"
"""How tokens begin that can be written in other ways; few do."""

_DECIMALS: Final = r"^([+-]?[0-9]+)(?:\.0+|(\.[0-9]*[1-9])0+)$"
"""A number with redundant zeros at its end: 1.0 = 1."""


def distinctive_tokens(texts: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each distinctive token of each text, with the text's other columns.

    A token is a maximal run of [A-Za-z0-9_.@+-], without dots around it and thousands separators,
    1.0 = 1; distinctive is a number of three digits, or four characters with a digit or @ among
    them. One that stands in a text twice has two rows; a text without any, or NULL, has none.

    Args:
        texts: Needs `text`, in lower case.
    """
    token, length = pl.col("token"), pl.col("token").str.len_bytes()
    runs = (
        texts.with_columns(pl.col("text").str.extract_all(_RUNS).alias("token"))
        .drop("text")
        .explode("token", empty_as_null=False, keep_nulls=False)
        .filter(length >= 3)
    )
    is_rewritten = runs.select(token.str.contains(_REWRITTEN)).to_series()
    bare = token.str.strip_chars_start(".").str.replace_all(",", "", literal=True)
    tokens = pl.concat(
        [
            runs.filter(~is_rewritten),
            runs.filter(is_rewritten).with_columns(bare.str.replace(_DECIMALS, "$1$2")),
        ]
    )
    numbers = tokens.filter(length == 3).filter(token.str.contains("^[0-9]{3}$"))
    return pl.concat([tokens.filter(length > 3), numbers])
