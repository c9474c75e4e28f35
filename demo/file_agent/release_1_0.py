"""Release 1.0, with the mistakes of the article's worked example.

It lists the whole folder although a cheap emptiness check would suffice, and writes before it
checks the disk. It archives uploads without a request, and has no branch for a malformed header.
Its plan marks only one of the two requested writes.
"""

from collections.abc import Callable

from demo.file_agent import tools
from demo.file_agent.agent import CLEAN_FILE, FileAgent
from demo.file_agent.plan import Plan, PlanStep

READ_ATTEMPTS = 3


class Release10(FileAgent):
    """The first release: the happy path, and one improvised way out of a full disk."""

    read_attempts = 0

    def first_plan(self) -> Plan:
        """Return five steps, one of them unrequested, none with a failure branch."""
        return Plan(
            [
                PlanStep(
                    "parse", "Parse the uploads", "read_csv", inputs=["uploads"], outputs=["rows"]
                ),
                PlanStep(
                    "validate",
                    "Validate each row",
                    "validate_rows",
                    inputs=["rows"],
                    outputs=["valid_rows"],
                ),
                PlanStep(
                    "clean",
                    "Write the passing rows",
                    "write_clean_file",
                    inputs=["valid_rows"],
                    outputs=["clean_file"],
                ),
                PlanStep(
                    "archive",
                    "Archive the uploads while at it",
                    "archive_uploads",
                    effect="destructive",
                    inputs=["uploads"],
                ),
                PlanStep(
                    "report",
                    "Write the summary report",
                    "write_report",
                    effect="write",
                    inputs=["clean_file"],
                    outputs=["report"],
                    rollback=f"delete {CLEAN_FILE} and the report",
                ),
            ]
        )

    def has_uploads(self) -> bool:
        """List everything with size and checksum, only to see whether there is anything."""
        with self.run.decision("look"):
            tools.list_directory("uploads")
        return True

    def actions(self) -> dict[str, Callable[[], None]]:
        """Return the common actions and the unrequested one."""
        return {**super().actions(), "archive": self.archive}

    def clean(self) -> None:
        """Start the output file at once, without a check of the disk, then write the rows."""
        if not self.plan_has("free"):
            with self.run.decision("prepare"):
                tools.write_clean_file(CLEAN_FILE, [])
        super().clean()

    def archive(self) -> None:
        """Move the originals away."""
        with self.run.decision("archive"):
            tools.archive_uploads("uploads", "archive")

    def recover(self, step: PlanStep, error: Exception) -> bool:
        """Improvise on a full disk; read a malformed upload again and hope."""
        if isinstance(error, OSError) and not self.plan_has("free"):
            free = PlanStep("free", "Remove leftovers", "remove_leftovers", effect="destructive")
            self.plan.insert_before(step, free)
            self.replan(f"Writing failed ({error}). I remove leftovers and write again.")
            return True
        self.read_attempts += 1
        return self.read_attempts < READ_ATTEMPTS

    def plan_has(self, step_id: str) -> bool:
        """Return whether the plan has a step of this id, done or not."""
        return any(step.id == step_id for step in self.plan.steps)
