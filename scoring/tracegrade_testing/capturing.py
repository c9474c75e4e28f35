"""`capture`: the spans of a block, next to whatever else the program does with them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tracegrade_testing.recording import Captured, bind, current, recorder, without_export

__all__ = ["Captured", "capture"]


@contextmanager
def capture(*, export: bool = True) -> Iterator[Captured]:
    """Capture the spans and log records of agents that run in the block.

    A TracerProvider of the program keeps its processors. Without one, spans are recorded by
    tracegrade and sent nowhere; the program may still set its own. Tasks of asyncio or anyio that
    start in the block belong to it, and so do threads.

    Args:
        export: Whether the program's own exporters get these spans as well.

    Raises:
        CannotCapture: The program samples spans, or its provider accepts no processors.
    """
    bind()
    captured = Captured()
    with ExitStack() as stack:
        if not export:
            stack.enter_context(without_export())
        recorder.begin(captured)
        token = current.set(captured)
        try:
            yield captured
        finally:
            current.reset(token)
            recorder.end(captured)
