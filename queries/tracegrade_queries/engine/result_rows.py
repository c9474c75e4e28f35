"""Rows of a query as Python has them: the values by the names of the columns."""

from typing import Any, TypeAlias

ResultRow: TypeAlias = dict[str, Any]
