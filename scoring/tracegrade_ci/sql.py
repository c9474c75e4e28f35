"""The SQL files of this package, by name."""

from pathlib import Path
from typing import Final

from tracegrade_queries.engine.sql import Queries

QUERIES: Final = Queries(Path(__file__).parent)

query = QUERIES.text
