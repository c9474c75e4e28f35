"""Values that were replaced before rows were made of them, noted in the column `redacted`.

A request with replaced values is marked; the replacements show which of its values they are. A
sender's own U+FFFD in such a request is noted, too: it replaces a character that was lost before.
"""

from collections.abc import Callable, Collection
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.encoding.otlp_json import INVALID_UNICODE, LARGE_INTEGER
from tracegrade_collector.encoding.wire_texts import REPLACEMENT
from tracegrade_collector.redact.blobs import MARK
from tracegrade_collector.redact.redaction_rules import BLOB
from tracegrade_collector.redact.text_leaves import RedactionMarks, readers

LARGE: Final = r"^-?[0-9]{19,400}$"
MAX_BIGINT: Final = 2**63

_SHOWS: Final[dict[str, Callable[[pa.Array], Any]]] = {
    INVALID_UNICODE: lambda texts: pc.match_substring(texts, REPLACEMENT),
    LARGE_INTEGER: lambda texts: _are_large(texts),  # noqa: PLW0108 - it is defined below
    BLOB: lambda texts: pc.match_substring(texts, MARK),
}
"""By rule, a test for texts that are replacements."""


def note_replaced(rows: pa.Table, requests: Collection[int], marks: RedactionMarks) -> None:
    """Note the replaced values of these requests that are not noted yet.

    Args:
        rows: Of a raw table, in one batch.
        requests: By their `wal_seq`.
        marks: Where they are noted.
    """
    is_chosen = pc.is_in(rows["wal_seq"], value_set=pa.array(requests, pa.int64()))
    of_requests = np.flatnonzero(is_chosen.to_numpy())
    if not len(of_requests):
        return
    for read in readers(rows.schema):
        leaf = read(rows)
        for rule, shows in _SHOWS.items():
            found = shows(leaf.values).fill_null(False)
            if leaf.keys is not None:
                found = pc.or_(found, shows(leaf.keys).fill_null(False))
            positions = np.flatnonzero(found.to_numpy(zero_copy_only=False))
            owners = leaf.owners(positions)
            is_chosen_owner = np.isin(owners, of_requests)
            positions, owners = positions[is_chosen_owner], owners[is_chosen_owner]
            if len(positions):
                marks.add_new(owners, leaf.paths(positions, leaf.keys), rule)


def _are_large(texts: pa.Array) -> pa.BooleanArray:
    found = pc.match_substring_regex(texts, LARGE).fill_null(False)
    places = np.flatnonzero(found.to_numpy(zero_copy_only=False))
    numbers = texts.take(pa.array(places)).to_pylist()
    large = [at for at, digits in zip(places, numbers, strict=True) if _is_large(digits)]
    return pa.array(np.isin(np.arange(len(texts)), large))


def _is_large(digits: str) -> bool:
    return not -MAX_BIGINT <= int(digits) < MAX_BIGINT
