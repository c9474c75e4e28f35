"""What a host program imports: `t` is tracegrade, or a stand-in whose functions do nothing.

`WITH_TRACEGRADE` decides: it names the file into which each process writes at its end what
tracegrade counted as failed or lost.
"""

import os

PATH = os.environ.get("WITH_TRACEGRADE", "")

if PATH:
    import atexit
    import json
    from multiprocessing import util

    import tracegrade as t

    def note(_: object = None) -> None:
        """Append what this process counted."""
        with open(PATH, "a") as file:
            file.write(json.dumps(t.failures()) + "\n")

    def note_at_the_end_of_a_child(_: object) -> None:
        """Let a forked child of `multiprocessing` do it, too: it ends without `atexit`."""
        util.Finalize(None, note, exitpriority=-2)  # after tracegrade has sent its spans

    atexit.register(note)
    util.register_after_fork(note, note_at_the_end_of_a_child)
else:
    import stand_in as t  # type: ignore[import-not-found, no-redef]  # it stands beside this file

__all__ = ["t"]
