"""The figures of papers 000, 002 and 004 with our results.

    python examples/paper_figures.py --output FOLDER [--data FOLDER]

writes five PNG files. With --data it uses the papers' data sets (CSV files as for the other
scripts), otherwise three of scikit-learn's. Features are standardised.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from protocols import DataSet, folds, read
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, MKLSearchCV, alignment_matrix
from mklkit.combiners.ifsl.rules import PAPER_GRID
from mklkit.presets.ifsl import RPEMEKL_KERNELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUADRATIC_TRIO = ("linear", "rbf(sigma='mean')", "polynomial(degree=2)")
CUBIC_PAIR = ("rbf(sigma='mean')", "polynomial(degree=3)")
WIDTHS = (*np.arange(1, 10) / 10, *range(1, 11))
"""τ of the second Gaussian of paper 002, Fig. 2; the first has 0.1."""
LAST_ITERATION = 20

# Each paper's sets by figure, as the papers name them; two classes where they are given.
PAPER_SETS = {
    "lambda": {
        "Wine": "wine",
        "Diabetes": "pima",
        "Sonar": "sonar",
        "Soybean": "soybean_small",
    },
    "000": {"Diabetes": "pima", "Sonar": "sonar", "Iris 2 v 3": "iris", "Wdbc": "wdbc"},
    "002": {"House-votes": "vote", "Pima-diabetes": "pima", "Sonar": "sonar"},
    "004": {
        "clean": "clean1",
        "house-votes": "vote",
        "ionosphere": "ionosphere",
        "pima": "pima",
        "sonar": "sonar",
    },
    "alignment": {
        "Balance": "balance_scale",
        "House-votes": "vote",
        "Sonar": "sonar",
        "Pima-diabetes": "pima",
    },
}
BUILT_IN = {
    "breast cancer": load_breast_cancer,
    "wine 2 v 3": load_wine,
    "iris 2 v 3": load_iris,
}


def sets(figure: str, folder: Path | None) -> Iterator[tuple[str, DataSet]]:
    """Yield a figure's data sets, standardised, by name."""
    names: dict[str, Any] = BUILT_IN if folder is None else PAPER_SETS[figure]
    for name, source in names.items():
        data = DataSet(*source(return_X_y=True)) if folder is None else read(folder, source)
        rows, labels = data
        if "v" in name.split():
            kept = labels != np.unique(labels)[0]
            rows, labels = rows[kept], labels[kept]
        scaler = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        yield name, DataSet(scaler.fit_transform(rows), labels)


def accuracy_by_coupling(axes: Axes, folder: Path | None, n_splits: int) -> None:
    """Plot ten-fold cross-validated accuracy over λ, with the best c (000, Fig. 1)."""
    for name, (rows, labels) in sets("lambda", folder):
        model = MKLClassifier(QUADRATIC_TRIO, combiner="ifsl", learner="mhks")
        search = MKLSearchCV(model, cv=folds(labels, 10, seed=0)).fit(rows, labels)
        by_point = search.cv_results_["mean_test_score"].reshape(len(PAPER_GRID), -1)
        axes.plot(PAPER_GRID, 100 * by_point.max(axis=0), marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="λ", ylabel="cross-validated accuracy (%)", title="MultiK-MHKS")


def convergence(
    title: str, figure: str, model: MKLClassifier
) -> Callable[[Axes, Path | None, int], None]:
    """Return a function that plots the objective's logarithm per iteration (000, 002, 004)."""

    def draw(axes: Axes, folder: Path | None, n_splits: int) -> None:
        longest = 0
        for name, (rows, labels) in sets(figure, folder):
            decision: Any = model.fit(rows, labels).decisions_[0]
            history = decision.history
            axes.plot(np.arange(1, len(history) + 1), np.log(history), marker=".", label=name)
            longest = max(longest, len(history))
        axes.set(xlabel="iteration", ylabel="ln of the objective", title=title)
        axes.set_xlim(0.5, min(longest, LAST_ITERATION) + 0.5)
        axes.xaxis.get_major_locator().set_params(integer=True)

    return draw


def accuracy_by_alignment(axes: Axes, folder: Path | None, n_splits: int) -> None:
    """Plot MultiV-KMHKS's accuracy over the alignment of its two Gaussians (002, Fig. 2)."""
    talk = Console(stderr=True)
    for name, (rows, labels) in sets("alignment", folder):
        points = []
        for width in track(WIDTHS, name, console=talk, disable=not talk.is_terminal):
            pair = ["first:rbf(sigma='0.1*mean')", f"second:rbf(sigma='{width}*mean')"]
            search = MKLSearchCV(
                MKLClassifier(pair, feature_map="implicit", combiner="ifsl", learner="kmhks"),
                {"learner__alpha": (0.0625, 1.0, 16.0), "combiner__lam": 10.0 ** np.arange(-5, 5)},
                cv=StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0),
            ).fit(rows, labels)
            alignment = alignment_matrix(pair, rows).to_numpy()[0, 1]
            points.append((alignment, 100 * search.best_score_))
        axes.plot(*zip(*sorted(points), strict=True), marker="o", markersize=3, label=name)
    axes.axvline(0.5, color="grey", linestyle=":")
    axes.set(
        xlabel="alignment of the two kernels",
        ylabel="accuracy (%)",
        title="MultiV-KMHKS",
        xlim=0,
    )


FIGURES: dict[str, Callable[[Axes, Path | None, int], None]] = {
    "000-fig1-accuracy-by-lambda": accuracy_by_coupling,
    "000-fig3-objective": convergence(
        "MultiK-MHKS",
        "000",
        MKLClassifier(QUADRATIC_TRIO, combiner="ifsl", learner="mhks"),
    ),
    "002-fig1-objective": convergence(
        "MultiV-KMHKS", "002", MKLClassifier(CUBIC_PAIR, combiner="ifsl", learner="kmhks")
    ),
    "002-fig2-accuracy-by-alignment": accuracy_by_alignment,
    "004-fig1-objective": convergence(
        "A member of RPEMEKL",
        "004",
        MKLClassifier(
            RPEMEKL_KERNELS, feature_map="empirical(subset=0.1)", combiner="ifsl", random_state=0
        ),
    ),
}


def main() -> None:
    """Read the arguments and write the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the PNG files")
    parser.add_argument("--data", type=Path, help="folder of CSV files (default: built-in sets)")
    parser.add_argument("--splits", type=int, default=5, help="halves a point (002, Fig. 2)")
    parser.add_argument("--only", nargs="+", choices=FIGURES, metavar="FIGURE")
    options = parser.parse_args()

    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    # At the ends of the papers' grids the iteration stops at max_iter or the papers' criterion.
    warnings.simplefilter("ignore", ConvergenceWarning)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        if options.only and name not in options.only:
            continue
        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        draw(axes, options.data, options.splits)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        path = options.output / f"{name}.png"
        figure.savefig(path, dpi=120)
        plt.close(figure)
        print(path)


if __name__ == "__main__":
    main()
