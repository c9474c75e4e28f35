"""Under `tracegrade run`, a program that may patch the standard library does so first."""

import sys
from pathlib import Path

import pytest
from tests.instrumentation.conftest import Received
from tests.instrumentation.installed import RUN, run

SHOW = "import sys; print('ssl' in sys.modules, 'tracegrade.distro' in sys.modules)\n"
PATCH = "from gevent import monkey; monkey.patch_all()\n"
LIBRARY = "import colorsys\n"
"""Imports something that nothing has imported yet."""
SPAN = """
from opentelemetry import trace
with trace.get_tracer("framework").start_as_current_span("chat"):
    pass
import opentelemetry
print(sys.modules["opentelemetry"] is opentelemetry, opentelemetry.__spec__.name)
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder with a library that patches as gevent does, and with one that an agent uses."""
    gevent = tmp_path / "gevent"
    gevent.mkdir()
    (gevent / "__init__.py").touch()
    (gevent / "monkey.py").write_text(
        "patched = []\n"
        "def is_module_patched(name): return name in patched\n"
        "def patch_all():\n"
        "    patched.append('socket')\n"
        "    import ssl\n"
        "    print('patched', 'tracegrade.distro' in __import__('sys').modules)\n"
    )
    (tmp_path / "openai.py").write_text("print('imported')")
    return tmp_path


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        (SHOW + PATCH + LIBRARY + SHOW, ["False False", "patched False", "True True"]),
        (SHOW + LIBRARY + SHOW + "import ssl, wave\n" + SHOW, ["False False"] * 2 + ["True True"]),
        (SHOW + "import openai\n" + SHOW, ["False False", "imported", "True True"]),
    ],
    ids=["patches", "imports ssl", "imports a client"],
)
def test_hook_starts_once_a_program_has_patched_or_will_not(
    packages: Path, program: str, printed: list[str]
) -> None:
    """It imports ssl, which is to be patched before; what is imported meanwhile is so once."""
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = run(*RUN, "--instrumentors", "none", "--", *command, PYTHONPATH=str(packages))

    assert done.stdout.splitlines() == printed
    assert "instrumentors: none" in done.stderr


ODD = """
class Odd:
    def __getattr__(self, name): raise RuntimeError(name)
sys.modules["odd"] = Odd()
"""
"""An object that is not a module is among the modules, as in healthy programs."""
WITHOUT_SETUPTOOLS = "sys.meta_path[:] = [f for f in sys.meta_path if 'Distutils' not in str(f)]\n"


def test_the_start_hides_no_module_and_fails_in_none_of_its_steps(packages: Path) -> None:
    """The import during which it starts finds what is built into Python, as any other does."""
    program = (
        "import sys\n" + WITHOUT_SETUPTOOLS + ODD + "import ssl\nimport _symtable, colorsys\n"
        "print('tracegrade.distro' in sys.modules)\n"
        "import tracegrade\nprint(dict(tracegrade.failures()))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = run(*RUN, "--instrumentors", "none", "--", *command, PYTHONPATH=str(packages))

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True", "{}"]


@pytest.mark.parametrize("first", ["", PATCH], ids=["", "patched"])
def test_spans_come_from_a_program_that_was_waited_for(
    collector: Received, packages: Path, first: str
) -> None:
    """Its first use of OpenTelemetry is as though the hook had started with Python."""
    variables = {"PYTHONPATH": str(packages), "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    command = [sys.executable, "-c", "import sys\n" + first + SPAN]
    done = run(*RUN, "--instrumentors", "none", "--", *command, **variables)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True opentelemetry"
    assert [span.name for span in collector.spans()] == ["chat"]
