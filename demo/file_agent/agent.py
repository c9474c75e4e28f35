"""The agent's policy: work through the plan, step by step, by plain rules, without a model.

This module holds the behavior of both releases; each release adds its own rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import tracegrade
from demo.file_agent import tools
from demo.file_agent.plan import Plan, PlanStep
from demo.file_agent.tools import MalformedHeaderError, Row

AGENT = "file-agent"
CLEAN_FILE = "clean/orders.csv"
REPORT_FILE = "reports/summary.json"

SUB_GOAL_OF_STEP = {
    "parse": "parse",
    "repair": "parse",
    "validate": "validate",
    "room": "room",
    "free": "room",
    "clean": "clean",
    "report": "report",
}
"""The sub-goal of the task that each plan step serves; other steps serve none."""


class FileAgent(ABC):
    """One run: the plan, the facts learned so far, and the rules for the next step."""

    def __init__(self, run: tracegrade.AgentRun) -> None:
        self.run = run
        self.plan = self.first_plan()
        self.uploads: list[str] | None = None
        """Paths found in uploads/; None before looking."""
        self.unread: list[str] = []
        self.rows: dict[str, list[Row]] = {}
        """Rows of each upload that was read."""
        self.valid: list[Row] = []
        self.rejected: list[dict[str, str]] = []
        self.quarantined: list[str] = []

    @abstractmethod
    def first_plan(self) -> Plan:
        """Return the plan made before anything is known."""

    @abstractmethod
    def has_uploads(self) -> bool:
        """Find out whether there is anything to do."""

    @abstractmethod
    def recover(self, step: PlanStep, error: Exception) -> bool:
        """Change the plan so that the failed step can continue; False gives up."""

    def work(self) -> str:
        """Work through the plan and return the answer."""
        self.run.plan(self.plan.as_json())
        while step := self.plan.next():
            try:
                with self._sub_goal(step):
                    self.actions()[step.id]()
            except (MalformedHeaderError, OSError) as error:
                if not self.recover(step, error):
                    return f"Stopped: {error}."
            else:
                step.status = "completed"
        return self._answer()

    def replan(self, why: str) -> None:
        """Say why the plan changes, and show the changed plan."""
        self.run.thought(why)
        self.run.plan(self.plan.as_json())

    def actions(self) -> dict[str, Callable[[], None]]:
        """Return what to do for each plan step, by its id; releases add their own."""
        return {
            "parse": self.parse,
            "validate": self.validate,
            "free": self.free_space,
            "clean": self.clean,
            "report": self.report,
        }

    def _sub_goal(self, step: PlanStep) -> AbstractContextManager[Any]:
        goal = SUB_GOAL_OF_STEP.get(step.id)
        return self.run.sub_goal(goal) if goal else nullcontext()

    def parse(self) -> None:
        """Read every upload that was not read yet."""
        if self.uploads is None:
            self._find_uploads()
        while self.unread:
            self.read(self.unread[0])

    def _find_uploads(self) -> None:
        self.run.thought("First I need to know whether anything was uploaded.")
        self.uploads = []
        if self.has_uploads():
            with self.run.decision("names"):
                self.uploads = tools.find_csv_files("uploads")
        self.unread = list(self.uploads)

    def read(self, path: str, **how: str) -> None:
        """Read one upload and take it off the list."""
        number = (self.uploads or []).index(path) + 1
        with self.run.decision(f"read-{number}"):
            self.rows[path] = tools.read_csv(path, **how)
        self.unread.remove(path)

    def free_space(self) -> None:
        """Remove the files of an interrupted run."""
        with self.run.decision("free"):
            tools.remove_leftovers("clean")

    def validate(self) -> None:
        """Split the rows of every upload into valid and rejected ones."""
        self.run.thought("I check each upload on its own, so one cannot hide another.")
        for number, rows in enumerate(self.rows.values(), start=1):
            with self.run.decision(f"validate-{number}"):
                checked = tools.validate_rows(rows)
            self.valid += checked["valid"]
            self.rejected += checked["rejected"]

    def clean(self) -> None:
        """Write the valid rows of all uploads as one file."""
        with self.run.decision("write"):
            tools.write_clean_file(CLEAN_FILE, self.valid)

    def report(self) -> None:
        """Write the summary: received, valid and rejected rows, with the reasons."""
        summary = {
            "uploads": len(self.uploads or []),
            "rows_written": len(self.valid),
            "rejected": self.rejected,
            "quarantined": self.quarantined,
        }
        with self.run.decision("report"):
            tools.write_report(REPORT_FILE, summary)

    def _answer(self) -> str:
        if not self.uploads:
            return "Nothing to clean: no uploads."
        return (
            f"Cleaned {len(self.valid)} rows of {len(self.rows)} uploads; "
            f"rejected {len(self.rejected)} rows, quarantined {len(self.quarantined)} uploads."
        )
