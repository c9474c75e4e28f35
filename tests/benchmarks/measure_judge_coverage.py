"""How often intervals of corrected rates hold the truth, by labels, rate and quality of the judge.

Run by hand: `python -m tests.benchmarks.measure_judge_coverage`; takes some minutes.
"""

import sys

import numpy as np
from tests.benchmarks.command_line import while_read
from tests.judges.calibration.coverage import QUALITIES, RATES, shares_held

from tracegrade_judges.calibration.correction import corrected_rate
from tracegrade_judges.calibration.prediction_powered import prediction_powered_rate

LABELS = (20, 50, 100, 300)
SIMULATIONS = 1_000
"""Of each rate and quality."""


METHODS = {"corrected": corrected_rate, "PPI++": prediction_powered_rate}


def main() -> None:
    """Print a table by each method: a row for each rate and quality, a column for each number."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    for name, method in METHODS.items():
        print(
            f"{name}: people say yes | judge right of yes, of no | {' | '.join(map(str, LABELS))}"
        )
        columns = [shares_held(n, simulations, np.random.default_rng(n), method) for n in LABELS]
        for key in [(rate, quality) for rate in RATES for quality in QUALITIES]:
            held = " | ".join(f"{column[key]:.3f}" for column in columns)
            print(f"{key[0]} | {key[1][0]}, {key[1][1]} | {held}")


if __name__ == "__main__":
    with while_read():
        main()
