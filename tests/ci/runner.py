"""Runs the shell steps of a composite action as a runner of GitHub does, in a folder of a test.

Only what the action uses is understood: names such as `inputs.lake`, comparisons with a text,
`!cancelled()` and `&&`. A folder takes the part of the cache.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

BASH = shutil.which("bash") or "/bin/bash"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class ActionRun(NamedTuple):
    """The result of an action."""

    outputs: Mapping[str, str]
    steps: Mapping[str, str]
    """By name of each step: `success`, `failure` or `skipped`."""
    stderr: str


class Runner:
    """One job on a machine: its folder of temporary files, and the cache of its repository."""

    def __init__(
        self, temp: Path, cache: Path, command: Path, upload: Callable[[str, Path], object]
    ) -> None:
        """Take folders, the command that is installed, and what receives artifacts."""
        self._temp, self._cache, self._upload = temp, cache, upload
        (temp / "tracegrade" / "bin").mkdir(parents=True)
        (temp / "tracegrade" / "bin" / "tracegrade").symlink_to(command)
        self._values: dict[str, str] = {"runner.temp": str(temp)}
        self._stderr = ""

    def run(self, file: Path, inputs: Mapping[str, str], github: Mapping[str, str]) -> ActionRun:
        """Run an action to its end; a failed step skips those that do not say otherwise."""
        action = yaml.safe_load(file.read_text())
        self._values |= {f"github.{name}": value for name, value in github.items()}
        for name, declared in action["inputs"].items():
            given = inputs.get(name, declared.get("default", ""))
            self._values[f"inputs.{name}"] = self._filled(given)
        assert inputs.keys() <= action["inputs"].keys()
        states: dict[str, str] = {}
        for step in action["runs"]["steps"]:
            states[step["name"]] = self._step(step, failed="failure" in states.values())
        outputs = {name: self._filled(each["value"]) for name, each in action["outputs"].items()}
        return ActionRun(outputs, states, self._stderr)

    def _step(self, step: Mapping[str, Any], *, failed: bool) -> str:
        condition = EXPRESSION.sub(r"\1", step.get("if", "true"))
        if (failed and "cancelled()" not in condition) or not self._holds(condition):
            return "skipped"
        if "uses" in step:
            return self._cached(step["uses"], step["with"])
        if step["name"] == "Install":
            return "success"
        outputs = self._temp / f"{step['name']}.outputs"
        outputs.touch()
        done = subprocess.run(
            [BASH, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            env=self._environment(step, outputs),
            cwd=self._temp,
            capture_output=True,
            text=True,
            check=False,
        )
        self._stderr += done.stderr
        for line in outputs.read_text().splitlines():
            name, _, value = line.partition("=")
            self._values[f"steps.{step.get('id')}.outputs.{name}"] = value
        return "failure" if done.returncode else "success"

    def _environment(self, step: Mapping[str, Any], outputs: Path) -> dict[str, str]:
        own = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        of_runner = {
            "RUNNER_TEMP": str(self._temp),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(self._temp / "summary.md"),
            "GITHUB_SHA": self._values["github.sha"],
            "GITHUB_REPOSITORY": self._values["github.repository"],
            "GITHUB_API_URL": self._values["github.api_url"],
        }
        return {"PATH": os.environ["PATH"], "HOME": str(self._temp), **of_runner, **own}

    def _cached(self, uses: str, given: Mapping[str, str]) -> str:
        """Restore, save or upload a folder, as the actions of GitHub do."""
        path = Path(self._filled(given["path"]))
        if "upload-artifact@" in uses:
            self._upload(self._filled(given["name"]), path)
            return "success"
        if "/save@" in uses:
            shutil.copytree(path, self._cache / self._filled(given["key"]))
            return "success"
        prefix = self._filled(given["restore-keys"])
        found = sorted(each for each in self._cache.iterdir() if each.name.startswith(prefix))
        if found:
            shutil.copytree(found[-1], path)
        return "success"

    def _filled(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def _value(self, term: str) -> str:
        if term.startswith("'") or term == "true":
            return term.strip("'")
        if term.startswith("steps."):
            return self._values.get(term, "")
        return self._values[term]

    def _holds(self, condition: str) -> bool:
        return all(self._term_holds(term.strip()) for term in condition.split("&&"))

    def _term_holds(self, term: str) -> bool:
        if term in {"!cancelled()", "true"}:
            return True
        left, sign, right = term.split(" ")
        return (self._value(left) == self._value(right)) == {"==": True, "!=": False}[sign]
