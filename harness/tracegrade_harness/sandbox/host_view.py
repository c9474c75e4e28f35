"""Decides which files of this machine a program in a sandbox sees, and which are hidden."""

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tracegrade_harness.sandbox import system
from tracegrade_harness.sandbox.folders import listening_sockets, to_be_hidden
from tracegrade_harness.sandbox.installed import needed_by, of_prefix
from tracegrade_harness.sandbox.processes import SUPERVISOR
from tracegrade_harness.sandbox.program import Program
from tracegrade_harness.sandbox.view import View


def view_of(program: Program) -> View:
    """Return a program's view of this machine's files."""
    view = View(system.OWN_FOLDERS, program.limits.disk_bytes)
    needed = [
        needed_by(name, program.environment) for name in (*program.programs, *program.command[:1])
    ]
    needed += [of_prefix(Path(sys.prefix)), of_prefix(Path(sys.base_prefix))]
    packages = [path for each in needed for path in each.packages]
    view.show([*system.FOLDERS, *(f"/etc/{name}" for name in system.CONFIGURATION)])
    view.show([*(path for each in needed for path in each.programs), sys.executable, SUPERVISOR])
    view.show([*packages, *program.readable, *program.visible])
    view.hide(_dangerous(program, view, [*packages, *program.readable]))
    view.hide([*program.hidden, tempfile.gettempdir()])
    return view


def supervisor_view() -> View:
    """Return the view of a supervisor whose program sees an image alone."""
    view = View(system.OWN_FOLDERS, None)
    view.show([*system.FOLDERS, *(f"/etc/{name}" for name in system.CONFIGURATION)])
    prefixes = [of_prefix(Path(prefix)) for prefix in (sys.prefix, sys.base_prefix)]
    view.show([*(path for each in prefixes for path in each.programs), sys.executable, SUPERVISOR])
    return view


def view_in_image(program: Program) -> View:
    """Return the files of this machine that a program in an image sees."""
    view = View((), None)
    view.show([*program.readable, *program.visible])
    view.hide(_dangerous(program, view, program.readable))
    view.hide(program.hidden)
    return view


def _dangerous(program: Program, view: View, folders: Iterable[Path]) -> list[str]:
    """Return visible keys and sockets that are neither named nor in the trial's folders."""
    named = {os.path.realpath(path) for path in (*program.readable, *program.visible)}
    own = {os.path.realpath(path) for path in (program.root, *program.visible)}
    sockets = (path for path in listening_sockets() if view.shows(path))
    return [
        path
        for path in (*to_be_hidden(folders), *sockets)
        if path not in named and own.isdisjoint(map(str, Path(path).parents))
    ]
