"""Scores lakes in one Spark session, each in another number of buckets; run by `test_spark.py`.

    python -m tests.scale.spark_program MASTER BUCKETS=LAKE...

A lake whose number ends in `+` gets more after its first run, and is scored again.
"""

import sys

from tracegrade_lake import Lake
from tracegrade_queries.engine.engines import EngineOptions, engine

from .lakes import more_comes, score_in


def main() -> None:
    """Score each lake; the session is one for all."""
    master, *lakes = sys.argv[1:]
    for given in lakes:
        buckets, _, place = given.partition("=")
        lake, count = Lake.open(place), int(buckets.removesuffix("+"))
        options = EngineOptions(lambda line: sys.stderr.write(f"{line}\n"), min(count, 2), master)
        with engine("spark", options) as executor:
            score_in(lake, count, executor)
            if buckets.endswith("+"):
                more_comes(lake)
                score_in(lake, count, executor)


if __name__ == "__main__":
    main()
