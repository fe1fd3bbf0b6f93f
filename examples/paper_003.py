"""Single kernels, uniform weights and DiMKL 1-6 on three UCI data sets, compared with paper 003.

The protocol of its section 5.2: features scaled to [-1, 1] on the training part, five Gaussian
kernels, libsvm with C = 1, repeated random splits into 80 % training and 20 % test rows. Run

    python examples/paper_003.py --data FOLDER

where FOLDER holds sonar.csv, ionosphere.csv and breast_w.csv: a header row, numeric features, the
class in the column "target". It prints a Markdown table; 100 splits take about a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler

from mklkit import get_registry, preset_classifier

# Accuracy and standard deviation by method and data set.
Table = dict[str, tuple[tuple[float, float], ...]]

# The presets share kernels and learner; they differ in the combiner.
FIRST = "paper-dimkl1"
DATA_SETS = ("sonar", "ionosphere", "breast_w")

# Accuracy and standard deviation in per cent, by data set (paper 003, Table 6).
PUBLISHED: Table = {
    "kernel 1": ((58.39, 11.22), (71.14, 6.01), (96.16, 1.55)),
    "kernel 2": ((78.17, 6.36), (92.14, 3.01), (97.08, 1.29)),
    "kernel 3": ((84.63, 5.98), (94.31, 2.46), (96.66, 1.43)),
    "kernel 4": ((84.56, 5.83), (94.27, 2.36), (96.29, 1.44)),
    "kernel 5": ((82.15, 7.97), (92.34, 2.74), (95.64, 1.53)),
    "dimkl1": ((86.17, 5.54), (94.07, 2.36), (96.57, 1.46)),
    "dimkl2": ((81.68, 6.35), (94.71, 2.39), (97.13, 1.26)),
    "dimkl3": ((85.22, 5.77), (94.70, 2.32), (97.10, 1.27)),
    "dimkl4": ((85.17, 5.93), (94.69, 2.33), (97.09, 1.29)),
    "dimkl5": ((83.41, 6.53), (94.57, 2.34), (97.05, 1.26)),
    "dimkl6": ((84.75, 6.10), (94.63, 2.41), (97.09, 1.28)),
}


def methods() -> Iterator[tuple[str, Pipeline]]:
    """Yield each method's name and its classifier, scaling included."""
    for number, kernel in enumerate(get_registry().lookup("preset", FIRST).target.kernels, start=1):
        yield f"kernel {number}", scaled(kernels=kernel, combiner="uniform")
    yield "uniform", scaled(combiner="uniform")
    for i in range(1, 7):
        yield f"dimkl{i}", scaled(f"paper-dimkl{i}")


def scaled(preset: str = FIRST, **changes: str) -> Pipeline:
    """Return a pipeline of the paper's feature scaling and a preset's classifier with changes."""
    classifier = preset_classifier(preset, random_state=0, **changes)
    return make_pipeline(MinMaxScaler((-1, 1)), classifier)


def read(path: Path, swap: bool) -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """Return features and class numbers; the heuristics' class 1 is the larger number."""
    table = pd.read_csv(path)
    codes, _ = pd.factorize(table.pop("target"), sort=True)
    return table, -codes if swap else codes


def accuracies(
    data: tuple[pd.DataFrame, NDArray[np.intp]], model: Pipeline, splits: ShuffleSplit
) -> NDArray[np.float64]:
    """Return the test accuracy of each split, in per cent."""
    return 100 * np.asarray(cross_val_score(model, *data, cv=splits, error_score="raise"))


def row(name: str, ours: list[NDArray[np.float64]], published: Table) -> str:
    """Return a method's row of the table."""
    cells = [name]
    for scores, theirs in zip(ours, published.get(name, (None,) * len(ours)), strict=True):
        # One split has no standard deviation.
        spread = np.std(scores, ddof=1) if len(scores) > 1 else np.nan
        cells.append(f"{np.mean(scores):.2f} ({spread:.2f})")
        if theirs is None:
            cells += ["", ""]
        else:
            cells += [f"{theirs[0]:.2f} ({theirs[1]:.2f})", f"{np.mean(scores) - theirs[0]:+.2f}"]
    return f"| {' | '.join(cells)} |"


def compare(
    description: str | None, methods: Iterable[tuple[str, Pipeline]], published: Table
) -> None:
    """Read the arguments, run every method on every data set, print the table."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the three CSV files")
    parser.add_argument("--splits", type=int, default=100, help="random splits (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the splits (default 0)")
    parser.add_argument(
        "--swap", action="store_true", help="let class 1 be the label that sorts first, not last"
    )
    options = parser.parse_args()
    paths = [options.data / f"{name}.csv" for name in DATA_SETS]
    if missing := [str(path) for path in paths if not path.is_file()]:
        parser.error(f"expected a CSV file each at {', '.join(missing)}")

    data = [read(path, options.swap) for path in paths]
    splits = ShuffleSplit(options.splits, test_size=0.2, random_state=options.seed)
    talk = Console(stderr=True)
    lines = [
        row(name, [accuracies(part, model, splits) for part in data], published)
        for name, model in track(
            list(methods), "methods", console=talk, disable=not talk.is_terminal
        )
    ]
    columns = [f"{name} | published | gap" for name in DATA_SETS]
    print(f"| | {' | '.join(columns)} |")
    print("|---|" + "--:|" * (3 * len(DATA_SETS)))
    print("\n".join(lines))


if __name__ == "__main__":
    compare(__doc__, methods(), PUBLISHED)
