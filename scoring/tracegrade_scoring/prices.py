"""Price files: what models cost, read from YAML and checked.

Example: `{version: 1, models: {gpt-5: {input: 1.25, output: 10}, o*: {input: 3, output: 15}}}`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from tracegrade_queries.costs import pricing
from tracegrade_queries.costs.model_price import ModelPrice
from tracegrade_queries.files.shape import parse_as
from tracegrade_queries.files.yaml_source import Problem, SourceFile, read_file
from tracegrade_scoring.errors import PriceFileInvalid, PriceFileUnreadable


class PriceFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: Literal[1]
    models: Annotated[dict[str, ModelPrice], Field(min_length=1)]
    """Prices by model name; a name that ends in `*` matches all models that begin with it."""


def load_prices(path: Path | None) -> pricing.Prices:
    """Return the prices in a file; none without a file.

    Raises:
        PriceFileInvalid: It holds errors; the first is named with its line.
        PriceFileUnreadable: It does not exist or is not text.
    """
    if path is None:
        return pricing.NO_PRICES
    source = read_file(path, "price file", "give a YAML file", PriceFileUnreadable)
    file, problems = (None, []) if source.problems else parse_as(PriceFile, _KEYS, source)
    problems = [*source.problems, *problems, *_stray_stars(source, file)]
    if problems or file is None:
        rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        msg = f"{problems[0]}{rest}"
        raise PriceFileInvalid(msg)
    return {name: price.by_token() for name, price in file.models.items()}


_KEYS: Final[dict[str, type[BaseModel]]] = {"models": ModelPrice}


def _stray_stars(source: SourceFile, file: PriceFile | None) -> Iterator[Problem]:
    for name in file.models if file else ():
        if "*" in name[:-1]:
            fact = f"'{name}' has a * before its end"
            yield source.problem(("models", name), fact, "put the * at the end of the name")
