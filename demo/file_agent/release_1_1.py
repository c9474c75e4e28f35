"""Release 1.1: cheap checks first, a branch for each risky step, an undo for each write."""

from collections.abc import Callable

from demo.file_agent import tools
from demo.file_agent.agent import CLEAN_FILE, REPORT_FILE, FileAgent
from demo.file_agent.plan import Plan, PlanStep


class Release11(FileAgent):
    """The second release, after the scores of the first were read."""

    unreadable = ""
    """Why the current upload could not be read."""

    def first_plan(self) -> Plan:
        """Return five steps, with a branch for each risky step and an undo for each write."""
        return Plan(
            [
                PlanStep(
                    "parse",
                    "Parse the uploads, if there are any",
                    "read_csv",
                    inputs=["uploads"],
                    outputs=["rows"],
                    on_failure=["read with the delimiter of its header", "quarantine the upload"],
                ),
                PlanStep(
                    "validate",
                    "Validate each row",
                    "validate_rows",
                    inputs=["rows"],
                    outputs=["valid_rows"],
                ),
                PlanStep(
                    "room",
                    "Check that the clean rows will fit",
                    "check_disk_space",
                    inputs=["valid_rows"],
                    outputs=["room"],
                    on_failure=["remove leftovers"],
                ),
                PlanStep(
                    "clean",
                    "Write the passing rows",
                    "write_clean_file",
                    effect="write",
                    inputs=["valid_rows", "room"],
                    outputs=["clean_file"],
                    rollback="delete the clean file",
                    on_failure=["delete the clean file and stop"],
                ),
                PlanStep(
                    "report",
                    "Write the summary report",
                    "write_report",
                    effect="write",
                    inputs=["clean_file"],
                    outputs=["report"],
                    rollback="delete the report",
                    on_failure=["answer with the summary instead"],
                ),
            ]
        )

    def has_uploads(self) -> bool:
        """Ask the cheap question; without uploads only the report is left to do."""
        with self.run.decision("look"):
            empty: bool = tools.is_empty("uploads")["empty"]
        if empty:
            self.plan.drop("validate", "room", "clean")
            self.replan("Nothing was uploaded, so there is nothing to clean; I only report it.")
        return not empty

    def actions(self) -> dict[str, Callable[[], None]]:
        """Return the common actions, the disk check and the branch of a malformed upload."""
        return {**super().actions(), "room": self.check_room, "repair": self.repair}

    def check_room(self) -> None:
        """Check the disk before anything is written; make room if it is too full."""
        need_bytes = len(tools.as_csv(self.valid).encode())
        with self.run.decision("prepare"):
            enough: bool = tools.check_disk_space("clean", need_bytes)["enough"]
        if not enough:
            clean = next(step for step in self.plan.steps if step.id == "clean")
            free = PlanStep("free", "Remove leftovers", "remove_leftovers", effect="destructive")
            self.plan.insert_before(clean, free)
            self.replan("The clean rows would not fit. Leftovers of an earlier run have to go.")

    def clean(self) -> None:
        """Write down how to undo it, then write the valid rows."""
        self.run.rollback(CLEAN_FILE, undo={"delete": CLEAN_FILE})
        super().clean()

    def report(self) -> None:
        """Write down how to undo it, then write the summary."""
        self.run.rollback(REPORT_FILE, undo={"delete": REPORT_FILE})
        super().report()

    def recover(self, step: PlanStep, error: Exception) -> bool:
        """Take the planned branch of a malformed header; anything else stops the run."""
        if step.id != "parse":
            return False
        self.unreadable = str(error)
        repair = PlanStep(
            "repair", f"Repair or quarantine {self.unread[0]}", "read_csv", inputs=["uploads"]
        )
        self.plan.insert_before(step, repair)
        self.replan(f"One upload cannot be read ({error}). I deal with it before I read on.")
        return True

    def repair(self) -> None:
        """Read the upload with the delimiter of its header, else put it into quarantine."""
        path = self.unread[0]
        if ";" in self.unreadable:
            self.read(path, delimiter=";")
            return
        tools.quarantine_file(path, self.unreadable)
        self.unread.remove(path)
        self.quarantined.append(path)
