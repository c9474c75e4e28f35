"""Kinds of parts are found by entry points, and one that cannot be used harms no other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tracegrade_harness.parts.registry import GROUP, KindFault, discover

OURS = ["files", "sqlite", "postgres", "redis", "http", "browser", "command"]
QUEUE = """
from tracegrade_harness.parts.kind import PartKind
from tracegrade_harness.suite.strict import Name, Strict
class Queue(Strict):
    at: Name
class Request(Strict):
    queue: Name
class Kind(PartKind):
    name, model, verifier = "queue", Queue, Request
"""


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, distribution: str, module: str, kind: str
) -> None:
    """Install a distribution whose module has a kind of this name."""
    name = distribution.replace("-", "_")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / f"{name}.py").write_text(module)
    facts = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
    (info / "METADATA").write_text(facts)
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{kind} = {name}:Kind\n")
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(folder)


def test_kinds_of_this_distribution_are_found_in_their_order() -> None:
    """Parts are made, checked and closed by it."""
    assert [kind.name for kind in discover().kinds] == OURS
    assert discover().faults == ()


@pytest.mark.parametrize(
    ("module", "kind", "reason"),
    [
        (
            "import no_such_client",
            "queue",
            "ModuleNotFoundError: No module named 'no_such_client'",
        ),
        ("Kind = 3", "queue", "acme_broken:Kind is not a class of kinds"),
        (QUEUE, "other", "acme_broken:Kind is named 'queue'"),
        (QUEUE.replace('"queue"', '"files"'), "files", "Request has no key 'files'"),
        (
            QUEUE.replace('"queue", Queue, Request', '"files", Queue, None'),
            "files",
            "there is another 'files'",
        ),
        (
            QUEUE.replace("queue: Name", "dom: Name").replace(
                "Request\n", 'Request; verifier_key = "dom"\n'
            ),
            "queue",
            "there is another verifier 'dom'",
        ),
        (
            QUEUE.replace('"queue", Queue, Request', '"locks", Queue, None'),
            "locks",
            "'locks' cannot be a key of environments",
        ),
        (
            QUEUE.replace("(Strict):\n    at", "(dict):\n    at"),
            "queue",
            "Queue is not a class of strict mappings",
        ),
    ],
)
def test_a_kind_that_cannot_be_used_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, kind: str, reason: str
) -> None:
    """All others are there."""
    install(tmp_path, monkeypatch, "acme-broken", module, kind)

    kinds, faults = discover()
    assert [each.name for each in kinds] == OURS
    fact = f"kind of parts '{kind}' of acme-broken 1.0 is left out: {reason}"
    assert faults == (KindFault(fact, "repair or uninstall it"),)


def test_of_two_with_one_name_the_first_distribution_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which it is does not depend on the order of the path."""
    install(tmp_path / "b", monkeypatch, "b-queue", QUEUE, "queue")
    install(tmp_path / "a", monkeypatch, "a-queue", QUEUE, "queue")

    kinds, (fault,) = discover()
    assert [each.name for each in kinds] == [*OURS, "queue"]
    assert (
        fault.fact == "kind of parts 'queue' of b-queue 1.0 is left out: there is another 'queue'"
    )


def test_check_prints_a_line_about_a_kind_that_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The suite, which does not name it, has no errors."""
    install(tmp_path / "site", monkeypatch, "acme-broken", "import no_such", "queue")
    suite = tmp_path / "suite.yaml"
    suite.write_text("version: 1\nsuite: s\nagents: {}\nenvironments: {}\ncases: {}\n")

    ended = subprocess.run(
        [sys.executable, "-m", "tracegrade", "harness", "check", suite],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.endswith("suite s: 0 cases, no errors\n")
    assert ended.stderr == (
        f"{suite}:4: kind of parts 'queue' of acme-broken 1.0 is left out: "
        "ModuleNotFoundError: No module named 'no_such'; repair or uninstall it\n"
    )
