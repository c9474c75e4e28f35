"""The table that the harness writes: name, type and meaning of each column."""

from typing import Final

import pyarrow as pa

from tracegrade_lake import Column, Table
from tracegrade_lake.columns import BIGINT, BOOLEAN, DOUBLE, TEXT, TIMESTAMP

HARNESS_TRIALS: Final = Table(
    name="harness_trials",
    grain="one run of an agent by the harness, killed or not, or a kill that was impossible",
    columns=(
        Column("run", TEXT, "The harness run, as `tracegrade harness run` prints it."),
        Column("suite", TEXT, "Name of the suite."),
        Column("task_id", TEXT, "The case, which is the task."),
        Column("agent_name", TEXT, "The agent, as the suite names it."),
        Column("release", TEXT, "Its release; NULL if the suite names none."),
        Column("trial", BIGINT, "Number of the trial of the case, from 1."),
        Column(
            "kill_point",
            TEXT,
            "Kill point: early | mid | late; NULL if it was not killed.",
            former="injection",
        ),
        Column(
            "trajectory_id", TEXT, "Trajectory of this run; NULL if it sent none or did not run."
        ),
        Column(
            "baseline_trajectory_id",
            TEXT,
            "Trajectory of the undisturbed trial that a killed run repeats, on which its verdict "
            "is; NULL for undisturbed ones.",
        ),
        Column(
            "status",
            TEXT,
            "done | budget (a limit ended it) | invalid (the harness's fault) | error (a "
            "verifier or the judging of a kill failed, or it is not known whether it "
            "reached a limit) | not_applicable (the run has no such point) | not_run "
            "(`--max-usd` did not suffice).",
        ),
        Column("reason", TEXT, "Why it is not done; NULL if it is."),
        Column(
            "exit_code", BIGINT, "Exit code of the agent; NULL if it was killed, or did not run."
        ),
        Column(
            "boundary", BIGINT, "Tool calls that had returned when it was killed; NULL otherwise."
        ),
        Column(
            "immediate", DOUBLE, "Score of a kill before recovery, 0 to 10; NULL if not judged."
        ),
        Column("after_recovery", DOUBLE, "The same after the recovery command."),
        Column(
            "success",
            BOOLEAN,
            "All verifiers passed; false if a limit ended the run; NULL without verifiers, "
            "if one could not judge, and for killed runs.",
        ),
        Column(
            "verifiers",
            TEXT,
            "JSON list of `{verifier, outcome, evidence}`; outcome is pass | fail | error. NULL "
            "for killed runs.",
        ),
        Column(
            "leftovers",
            TEXT,
            "JSON list of the objects that differ after recovery, each with the records that name "
            "it, and `disproved`: why an undo of it failed. NULL for undisturbed runs.",
        ),
        Column(
            "changed",
            TEXT,
            "JSON object of the run's changes to its environment: added, changed, removed and "
            "held objects, and the number that each rule hid.",
        ),
        Column(
            "states",
            TEXT,
            "JSON list of the objects that a killed run changed, each with `before` (present | "
            "absent), and how it differed after the kill (`killed`) and after recovery "
            "(`recovered`): added | changed | removed | same. `texts` has the content at each "
            "moment of files, rows and JSON values of at most 16 kB, 128 kB of all, without "
            "secrets; `forms` kind and permissions of a file, where they changed. NULL for "
            "undisturbed runs, and if an earlier version wrote the row.",
        ),
        Column(
            "recovery_log",
            TEXT,
            "The end of what the recovery command printed, at most 16 kB; NULL without one, if it "
            "printed nothing, and if an earlier version wrote the row.",
        ),
        Column(
            "notes",
            TEXT,
            "JSON list of notes for a reader of the numbers, such as `diverged: ...`, "
            "`recovery: ended with 1`, faults of records; NULL if there are none.",
        ),
        Column(
            "seconds", DOUBLE, "From the start of the agent to its end, recovery not included."
        ),
        Column(
            "tokens",
            BIGINT,
            "Input and output tokens of its models, live or from a tape; NULL if there was no "
            "answer, if one did not report its tokens, or for a mid kill that is the late one.",
        ),
        Column(
            "usd",
            DOUBLE,
            "US dollars that its models cost, recovery included; answers of a tape cost nothing. "
            "NULL as `tokens`, or if a model has no price.",
        ),
        Column("started_at", TIMESTAMP, "UTC."),
        Column("harness_version", TEXT, "Version of tracegrade."),
        Column("date", pa.date32(), "Date of `started_at`, UTC."),
    ),
)
