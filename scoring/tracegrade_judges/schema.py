"""The tables that judges write: name, type and meaning of each column."""

from typing import Final

import pyarrow as pa

from tracegrade_lake import Column, Table
from tracegrade_lake.columns import BIGINT, DOUBLE, INTEGER, TEXT, TIMESTAMP

_JUDGE: Final = Column("judge", TEXT, "Name of the judge, as its file has it.")
_RUN: Final = Column("trajectory_id", TEXT, "The run that is judged.")
_SUBJECT: Final = Column("subject", TEXT, "success | sub_goal | planning | served.")
_SUB_GOAL: Final = Column(
    "sub_goal", TEXT, "The sub-goal; NULL unless subject is sub_goal or served."
)
_STEP: Final = Column(
    "step_index", INTEGER, "Step of the call that may serve it; NULL unless subject is served."
)

_QUESTION: Final = Column(
    "question",
    TEXT,
    "The question about the plan, as `verdicts.question`; NULL unless subject is planning.",
)

JUDGE_CALLS: Final = Table(
    name="judge_calls",
    grain="one answer of a judge's model, which is used again for an equal request",
    columns=(
        Column("key", TEXT, "SHA-256 of the request's body, its nonce replaced, in hex digits."),
        _JUDGE,
        _RUN,
        Column("sub_goal", TEXT, "The sub-goal; NULL if it is about answers or a plan."),
        Column(
            "step_index", INTEGER, "Step of a call that may serve it; NULL if it is about others."
        ),
        Column("question", TEXT, "The question about a plan; NULL if it is about others."),
        Column("model", TEXT, "The model, as it was asked for."),
        Column("prompt_version", TEXT, "Version of the instructions that judges are given."),
        Column("response", TEXT, "The answer without secrets, JSON of Chat Completions."),
        Column("input_tokens", BIGINT, "As the endpoint counts; NULL if it does not."),
        Column("output_tokens", BIGINT, "As input_tokens."),
        Column("cost_usd", DOUBLE, "By the lake's prices; NULL without a price or a count."),
        Column("seconds", DOUBLE, "From the request to the whole answer."),
        Column("asked_at", TIMESTAMP, "UTC."),
        Column("date", pa.date32(), "Date of `asked_at`, UTC."),
    ),
)

JUDGE_SAMPLES: Final = Table(
    name="judge_samples",
    grain="one verdict of a judge that was drawn at random for a person to label",
    columns=(
        Column("item", TEXT, "Its name in the file of labels: 12 hex digits."),
        _JUDGE,
        _RUN,
        _SUBJECT,
        _SUB_GOAL,
        _STEP,
        _QUESTION,
        Column("task_id", TEXT, "Task of the run."),
        Column("verdict", TEXT, "yes | no: what the judge said, which is the stratum."),
        Column("probability", DOUBLE, "Chance of each verdict of its stratum, in (0, 1]."),
        Column("seed", BIGINT, "Seed of the draw."),
        Column("drawn_at", TIMESTAMP, "UTC."),
        Column("date", pa.date32(), "Date of `drawn_at`, UTC."),
    ),
)

JUDGE_TWINS: Final = Table(
    name="judge_twins",
    grain="one judged run with one change that should not change, or should turn, the verdict",
    columns=(
        _JUDGE,
        _RUN,
        _SUBJECT,
        _SUB_GOAL,
        _STEP,
        _QUESTION,
        Column("twin", TEXT, "Name of the attack; padding | negation."),
        Column(
            "place",
            TEXT,
            "argument | result | thought | answer; of answers question | answer; of plans "
            "thought; NULL for negation.",
        ),
        Column("before", TEXT, "yes | no: the verdict on the unchanged run."),
        Column("after", TEXT, "yes | no | error: the verdict on the changed one."),
        Column("reason", TEXT, "Code for why `after` is error; NULL if it is not."),
        Column("asked_at", TIMESTAMP, "UTC."),
        Column("date", pa.date32(), "Date of `asked_at`, UTC."),
    ),
)

JUDGE_FLIP_RATES: Final = Table(
    name="judge_flip_rates",
    grain="how often twins of one kind moved a judge, by the last `judge twins` that asked it",
    columns=(
        Column("source", TEXT, "Source of the judge's verdicts, as `verdicts.source`."),
        _SUBJECT,
        Column("kind", TEXT, "attacks | padding | negation."),
        Column("place", TEXT, "Place of the attack; NULL: all together, or no attack."),
        Column("twins", BIGINT, "With a verdict, of runs that can be moved so."),
        Column(
            "flipped",
            BIGINT,
            "Number of these that flipped: attacks that made a no a yes, padding that "
            "changed a verdict, and yes to what is asked and to its opposite.",
        ),
        Column("errors", BIGINT, "Twins without a verdict, which are in no rate."),
        Column("flip_rate", DOUBLE, "flipped / twins, in [0, 1]; NULL without twins."),
        Column("flip_rate_low", DOUBLE, "Lower end of Wilson's 95 % interval."),
        Column("flip_rate_high", DOUBLE, "Upper end."),
        Column("asked_at", TIMESTAMP, "UTC."),
    ),
    partition_by=(),
)
