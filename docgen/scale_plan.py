"""The page of scale: the resources for a billion spans a day, computed from measurements.

A small simulation of one day. Each input number is in `MEASURED`, with the source of the
measurement, or in `ASSUMED`; no other number affects the result. `make docs` runs it.
"""

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

SPANS: Final = 1_000_000_000
DAY_SECS: Final = 24 * 3_600
SLOTS: Final = (16, 32, 64, 128)
RUNS_A_DAY: Final = (1, 4, 24)


class Number(NamedTuple):
    """An input number of the plan."""

    value: float
    unit: str
    source: str
    """The source of the measurement, or the reason for the assumption."""


class Workload(NamedTuple):
    """The spans that agents send."""

    name: str
    build_us: float
    """CPU a span."""
    spans_a_run: float


class Pass(NamedTuple):
    """One run of `tracegrade score`."""

    secs: float
    """From its start to its last commit."""
    cpu_secs: float
    """Sum over all workers."""
    buckets: int
    rewriting_secs: float
    """Part of `secs` in which workers copy the other rows of files that hold replaced rows."""
    looking_secs: float
    """Part of `secs` in which the driver looks for trajectories to score, on changed dates."""


class Day(NamedTuple):
    """All runs of a day."""

    longest: Pass
    cpu_hours: float
    """Sum over all workers."""


def m(name: str) -> float:
    """Return a measured number."""
    return MEASURED[name].value


def a(name: str) -> float:
    """Return an assumed number."""
    return ASSUMED[name].value


def day(load: Workload, runs: int, slots: int) -> Day:
    """Return the resources of all runs of a day; the middle run has the busiest part."""
    passes = []
    before = 0.0
    for spans in spans_of_runs(runs):
        passes.append(one_pass(load, spans, before, slots))
        before += spans
    longest = max(passes, key=lambda each: each.secs)
    return Day(longest, sum(each.cpu_secs for each in passes) / 3_600)


def spans_of_runs(runs: int) -> list[float]:
    """Return the number of spans that each run of a day finds; their sum is a day's."""
    if runs == 1:
        return [SPANS]
    busiest = SPANS / runs * a("busiest part")
    others = (SPANS - busiest) / (runs - 1)
    return [busiest if number == runs // 2 else others for number in range(runs)]


def one_pass(load: Workload, spans: float, before: float, slots: int) -> Pass:
    """Return the resources of a run with so many new spans, on a date that has earlier spans."""
    built = tasks(spans, m("spans of a bucket"), load.build_us)
    trajectories = spans / load.spans_a_run
    scored = tasks(trajectories, m("trajectories of a bucket"), m("score"))
    older = before / load.spans_a_run
    rewritten = before * m("steps a span") / m("rewriting steps")
    rewritten += older / m("rewriting trajectories")
    looking = (older + trajectories) * m("look") / 1e6
    rewriting = makespan([rewritten / slots] * slots, slots)
    secs = makespan(built, slots) + makespan(scored, slots) + rewriting + looking
    cpu_secs = sum(built) + sum(scored) + rewritten
    return Pass(secs, cpu_secs, len(built) + len(scored), rewriting, looking)


def replaced_tb(load: Workload, runs: int) -> float:
    """Return the terabytes of files that a day's runs replace: of their date and earlier ones."""
    found = spans_of_runs(runs)
    rewritten = sum(sum(found[:number]) for number in range(runs))
    rewritten += runs * a("earlier dates with late spans") * SPANS
    of_steps = rewritten * m("steps a span") * m("a step")
    return (of_steps + rewritten / load.spans_a_run * m("a trajectory")) / 1e12


def tasks(rows: float, rows_of_bucket: float, us: float) -> list[float]:
    """Return the seconds that each bucket of some rows takes; one bucket runs twice."""
    count = max(1, math.ceil(rows / rows_of_bucket))
    secs = rows / count * us / 1e6
    slow = math.ceil(count * a("slow buckets"))
    return [secs * a("of a slow bucket")] * slow + [secs] * (count - slow) + [secs]


def makespan(durations: Sequence[float], slots: int) -> float:
    """Return the end of the last task, if each task goes to the slot that is free first."""
    free = [0.0] * slots
    for secs in durations:
        heapq.heapreplace(free, free[0] + secs)
    return max(free)


MEASURED: Final = {
    "build, captures of all frameworks": Number(
        59,
        "µs of CPU a span",
        "10,026,906 spans, [measurements](internals/measurements.md#queries)",
    ),
    "build, runs of 13 calls": Number(
        141, "µs of CPU a span", "`bench_build --history 13`, same page"
    ),
    "spans a run, captures": Number(5.5, "", "same page, 10,026,906 spans of 1,808,460 traces"),
    "spans a run, 13 calls": Number(26, "", "one of a model and one of a tool for each call"),
    "score": Number(160, "µs of CPU a trajectory", "`docs/internals/measurements.md`"),
    "spans of a bucket": Number(250_000, "", "`BUCKET_SPANS`"),
    "look": Number(
        3,
        "µs of CPU a trajectory of the date",
        "`bench_discovery --runs`, while other programs ran",
    ),
    "trajectories of a bucket": Number(50_000, "", "`BUCKET_STEPS`, ten steps a trajectory"),
    "steps a span": Number(0.58, "", "59,640 steps of 102,312 spans, captures"),
    "a span": Number(
        122,
        "bytes landed",
        "τ-bench's airline runs, imported: each message once; live ones send more",
    ),
    "a step": Number(124, "bytes", "`measure_scale`"),
    "a trajectory": Number(367, "bytes", "`measure_scale`, with its scores and evidence"),
    "manifest": Number(
        33, "bytes a trace", "`measure_scale`, ids that do not resemble each other"
    ),
    "outcome": Number(50, "bytes a trajectory", "`measure_scale`"),
    "rewriting steps": Number(
        176_000, "a second of CPU", "`measure_scale`, while a dozen other programs ran"
    ),
    "rewriting trajectories": Number(
        15_600, "a second of CPU", "the same run, with scores and evidence"
    ),
    "collector": Number(
        100_000,
        "spans a second",
        "on two cores, for a minute, [measurements](internals/measurements.md#collector)",
    ),
    "commits to one store": Number(
        2.7, "a second", "16 writers, `docs/internals/measurements.md`, section Lake"
    ),
    "commit every": Number(30, "seconds", "of a collector to a store, by default"),
    "memory of a slot": Number(3.5, "GB", "2.5 of the engine, [spark.md](spark.md)"),
}

ASSUMED: Final = {
    "days replaced files are kept": Number(
        0.625, "", "12 hours by default, and up to 3 until the next look"
    ),
    "earlier dates with late spans": Number(1, "", "a run, in all files of the date"),
    "busiest part": Number(2, "times the mean", "of a day's traffic, of runs of several a day"),
    "slow buckets": Number(0.1, "of all", "have long runs, or a busy machine"),
    "of a slow bucket": Number(2, "times the time", ""),
    "vCPU": Number(0.05, "$ an hour", "about a cloud's list price"),
    "store": Number(0.023, "$ a GB and month", "about a cloud's list price"),
    "days kept": Number(30, "", "spans, built tables and scores"),
}

LOADS: Final = (
    Workload(
        "captures of all frameworks",
        MEASURED["build, captures of all frameworks"].value,
        MEASURED["spans a run, captures"].value,
    ),
    Workload(
        "runs of 13 calls",
        MEASURED["build, runs of 13 calls"].value,
        MEASURED["spans a run, 13 calls"].value,
    ),
)

INTRODUCTION: Final = """\
# A billion spans a day

A plan beyond the machines that this project was measured on: the resources for one billion spans a
day. `make docs` computes it with `docgen/scale_plan.py`, a simulation of one day, from the
[inputs](#inputs): each was measured, or is marked as an assumption. No such run has been made.
[spark.md](spark.md) explains how to run on several machines.

"""

READING: Final = """\
A run finds new spans, lets workers build and score them, and commits. If a trace gets late spans
or a verdict, its rows are replaced: workers rewrite the files that hold such rows. *Rewriting* is
counted as if each file of the date held such a row, which is true after verdicts on runs of all
hours. Late spans of runs that had not ended at the previous run are in few files. *Looking* is
done by the driver: it reads the sources of a date's trajectories and scores. Therefore:

- **Hourly runs are reasonable** with enough slots for the busiest hour. They cost more than one
  run a day, because of rewriting and looking.
- Once building is a small part of a run, more slots do not end it sooner: one machine does the
  looking, here counted on one core.
- Long agent runs cost more per span, but there are fewer of them to score.

*Replaced files* are counted in the same way: each run rewrites all that its date had before, and
all of one earlier date, as if each of its files had a row of a run with late spans. They are kept
for readers that began earlier.

Two things are left out: the time in which the driver looks up ids among those of a date (for
verdicts, of all dates), which takes seconds; and the driver's memory for one row of each trace.

"""


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    parts = [INTRODUCTION, "## Runs\n\n", *_runs(), READING, "## One day\n\n", _one_day()]
    parts += ["\n## Inputs\n\nMeasured, on two cores:\n\n", _numbers(MEASURED)]
    return {"scale.md": "".join([*parts, "\nAssumed:\n\n", _numbers(ASSUMED)])}


def _runs() -> Iterator[str]:
    """Yield a table of each workload: the CPU time of a day, and the longest run."""
    for load in LOADS:
        yield f"{load.name.capitalize()}: {load.spans_a_run:g} spans a run.\n\n"
        yield "| runs a day | slots | CPU of workers, a day | longest run "
        yield "| rewriting in it | looking in it |\n|---|---|---|---|---|---|\n"
        for runs in RUNS_A_DAY:
            for slots in SLOTS:
                found = day(load, runs, slots)
                hours, last = found.cpu_hours, found.longest
                yield f"| {runs} | {slots} | {hours:.0f} h | {_minutes(last.secs)} | "
                yield f"{_minutes(last.rewriting_secs)} | {_minutes(last.looking_secs)} |\n"
        yield "\n"


def _minutes(secs: float) -> str:
    return f"{secs / 60:,.0f} min"


def _replaced(kept_tb: float) -> dict[str, str]:
    """Return the rows about replaced files, by runs a day; the rest of the lake has so many TB."""
    days = a("days replaced files are kept")
    a_day = [replaced_tb(LOADS[0], each) for each in RUNS_A_DAY]
    stored = [(kept_tb + each * days) * 1e3 * a("store") / 30 for each in a_day]
    return {
        "replaced files of a day, with 1, 4 and 24 runs a day": ", ".join(
            f"{each:,.1f} TB" for each in a_day
        ),
        f"all of them that are kept, {days:g} days": ", ".join(
            f"{each * days:,.1f} TB" for each in a_day
        ),
        "storage of what is kept, with 1, 4 and 24 runs a day": ", ".join(
            f"${each:,.0f}" for each in stored
        ),
    }


def _one_day() -> str:
    """Return a table of the other resources of a day."""
    short, long = LOADS
    passes = {load: day(load, 1, SLOTS[1]).longest for load in LOADS}
    mean = SPANS / DAY_SECS
    peak = mean * a("busiest part")
    collectors = 1 + math.ceil(peak / m("collector"))
    landed, steps = SPANS * m("a span") / 1e9, SPANS * m("steps a span") * m("a step") / 1e9
    runs = {load: SPANS / load.spans_a_run for load in LOADS}
    scored = {load: runs[load] * m("a trajectory") / 1e9 for load in LOADS}
    kept_tb = (landed + steps + scored[short]) * a("days kept") / 1e3
    handed = {load: runs[load] * (m("manifest") + m("outcome")) / 1e9 for load in LOADS}
    rows = {
        "spans a second, mean and busiest": f"{mean:,.0f}, {peak:,.0f}",
        "collectors, one more than the load needs": f"{collectors}",
        "their commits a second; one store takes": (
            f"{collectors / m('commit every'):.1f}; {m('commits to one store'):g}"
        ),
        "buckets": f"{passes[short].buckets:,}, {passes[long].buckets:,}",
        "manifests and outcomes, which the driver holds in memory": (
            f"{handed[short]:.1f} GB, {handed[long]:.1f} GB"
        ),
        f"memory of {SLOTS[1]} slots": f"{SLOTS[1] * m('memory of a slot'):,.0f} GB",
        "spans landed": f"{landed:,.0f} GB",
        "steps": f"{steps:,.0f} GB",
        "trajectories, scores, evidence": f"{scored[short]:,.0f} GB, {scored[long]:,.0f} GB",
        f"all of {a('days kept'):g} days": f"{kept_tb:,.1f} TB",
        "CPU of workers": f"{_cost(passes[short])}, {_cost(passes[long])}",
    } | _replaced(kept_tb)
    lines = "".join(f"| {name} | {value} |\n" for name, value in rows.items())
    return (
        "If a cell has two numbers, the second is for long runs.\n\n| of one day | |\n|---|---|\n"
        + lines
    )


def _cost(one: Pass) -> str:
    return f"${one.cpu_secs / 3_600 * a('vCPU'):.1f}"


def _numbers(numbers: dict[str, Number]) -> str:
    rows = (
        f"| {name} | {number.value:,g} {number.unit} | {number.source} |\n"
        for name, number in numbers.items()
    )
    return "".join(["| input | value | source |\n|---|---|---|\n", *rows])
