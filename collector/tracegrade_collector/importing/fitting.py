"""Requests of files → requests whose rows fit into memory.

Each row repeats its resource and scope: a prompt of a megabyte on a command line is three
gigabytes in 3,000 spans. A file is never sent again in smaller batches, so it is divided here.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tracegrade_collector.encoding.otlp import (
    ExportRequest,
    ScopeGroup,
    Signal,
    empty_request,
    groups,
)
from tracegrade_collector.rows.pieces import PIECE_REPEATED_BYTES


def fitting(request: ExportRequest, signal: Signal) -> Iterator[ExportRequest]:
    """Yield a request, or several with its items in order, so that none repeats too much.

    Args:
        request: A request of any size.
        signal: The signal that it holds.
    """
    if sum(_size(group) * len(group.items) for group in groups(request)) <= PIECE_REPEATED_BYTES:
        yield request
        return
    for group in groups(request):
        at_once = max(1, PIECE_REPEATED_BYTES // max(1, _size(group)))
        for start in range(0, len(group.items), at_once):
            yield _with_items(group, group.items[start : start + at_once], signal)


def _size(group: ScopeGroup) -> int:
    """Return how many bytes each item of a group repeats."""
    return int(group.resource.resource.ByteSize() + group.scope.scope.ByteSize())


def _with_items(group: ScopeGroup, items: Sequence[Any], signal: Signal) -> ExportRequest:
    request = empty_request(signal)
    is_trace = signal is Signal.TRACES
    parts: Any = request
    resource = (parts.resource_spans if is_trace else parts.resource_logs).add()
    resource.resource.CopyFrom(group.resource.resource)
    resource.schema_url = group.resource.schema_url
    scope = (resource.scope_spans if is_trace else resource.scope_logs).add()
    scope.scope.CopyFrom(group.scope.scope)
    scope.schema_url = group.scope.schema_url
    (scope.spans if is_trace else scope.log_records).extend(items)
    return request
