"""Distributions that are installed in a folder, and what `tracegrade run` makes of them."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

RUN = [str(Path(sys.executable).with_name("tracegrade")), "run"]
PATIENCE_SECS = 240
HERE = ",".join(each.name for each in entry_points(group="opentelemetry_instrumentor"))
"""Libraries whose instrumentors are installed here, which take seconds to import."""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with a few variables beside the usual ones."""
    return subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )


INSTRUMENTOR = """
class It:
    def instrument(self, **_): print(__name__)
    def uninstrument(self): print("without", __name__)
"""
INSTRUMENTED = {
    "crewai": "crewai",
    "langchain": "langchain-core",
    "llama-index": "llama-index-core",
    "mistralai": "mistralai",
    "smolagents": "smolagents",
}
"""Which distributions libraries are, of those that are known by name."""


def instrumentor(folder: Path, distribution: str, library: str, needs: str = "") -> None:
    """Install a distribution whose instrumentor prints its name, and what it instruments."""
    module = distribution.replace("-", "_")
    (folder / f"{module}.py").write_text(INSTRUMENTOR)
    if library in INSTRUMENTED:
        framework(folder, INSTRUMENTED[library], INSTRUMENTED[library].replace("-", "_"))
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n{requires}"
    )
    (info / "entry_points.txt").write_text(
        f"[opentelemetry_instrumentor]\n{library} = {module}:It\n"
    )


def framework(folder: Path, distribution: str, module: str) -> None:
    """Install a distribution of this name, with an empty module."""
    info = folder / f"{distribution.replace('-', '_')}-2.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.0\n")
    (folder / f"{module}.py").touch()


def told(folder: Path, *needed: str, program: str = "pass") -> tuple[str, str, list[str]]:
    """Return a program's messages at the start and later, and the output of its instrumentors."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    quiet = {"OTEL_TRACES_EXPORTER": "none", "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": HERE}
    done = run(*RUN, *needed, "--", sys.executable, "-c", program, PYTHONPATH=path, **quiet)
    start, *others = done.stderr.splitlines()
    assert done.returncode == 0, done.stderr
    return start, "\n".join(others), done.stdout.splitlines()
