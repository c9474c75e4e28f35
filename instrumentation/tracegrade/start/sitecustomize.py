"""Python imports this by its name as it starts, where `tracegrade run` has put the folder.

Any Python that the command starts does so, even one without tracegrade. That is reported, because
it sends no spans. A `sitecustomize` that follows this one in the path is imported as well.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

ANNOUNCE = "TRACEGRADE_ANNOUNCE"
LAUNCHERS = frozenset(("conda", "hatch", "nox", "pdm", "pipenv", "pipx", "poetry", "rye", "tox"))
"""Programs in Python that start others: what these start is the agent."""


def start() -> None:
    """Instrument this process as soon as that can be, unless it just starts another."""
    if program() in LAUNCHERS:
        return
    try:
        from tracegrade.host.waiting import start_in_time  # noqa: PLC0415 - is it there?
    except ImportError:
        warn()
    else:
        start_in_time(instrument)


def instrument() -> None:
    """Instrument this process."""
    path = os.environ.pop("PYTHONPATH", None)  # processes started in this time are not the agent
    try:
        from tracegrade.environment import usable_environment  # noqa: PLC0415 - as above

        with usable_environment():
            start_hook()
    except ImportError:
        warn()
    finally:
        if path is not None:
            os.environ["PYTHONPATH"] = path


def start_hook() -> None:
    """Start OpenTelemetry's hook, which finds tracegrade's distro; report a failure once."""
    from tracegrade.off import say_why  # noqa: PLC0415 - as above

    try:
        from opentelemetry.instrumentation.auto_instrumentation import initialize  # noqa: PLC0415

        import tracegrade.distro  # noqa: F401, PLC0415 - is it there?
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - any error of OpenTelemetry's packages
        say_why(error)
    else:
        initialize()


def program() -> str:
    """Return the name of the script or module that this Python runs."""
    words = iter(getattr(sys, "orig_argv", [])[1:])  # older Pythons do not tell
    for word in words:
        if word == "-m":
            return next(words, "")
        if word == "-c" or not word.startswith("-"):
            return Path(word).name
    return ""


def warn() -> None:
    """Report that this Python has no tracegrade, but not again in each process that it starts."""
    if os.environ.pop(ANNOUNCE, None):
        sys.stderr.write(
            f"tracegrade: warning: {sys.executable} has no tracegrade, so it will send no spans; "
            f"install it there, {sys.executable} -m pip install tracegrade, or name another "
            "Python\n"
        )


def run_next() -> None:
    """Run the `sitecustomize` that would have been imported without this one."""
    here = Path(__file__).parent
    others = [each for each in sys.path if Path(each).absolute() != here]
    spec = PathFinder.find_spec(__name__, others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if __name__ == "sitecustomize":
    run_next()
    start()
