"""Accuracy of feature maps against their number of features.

Compares `empirical`, with each choice of landmarks, and `fourier` on one rbf kernel, whose width is
half the mean distance between samples. Shown are the relative error ‖K − ΦΦᵀ‖/‖K‖ (Frobenius norm)
on 2,000 test samples, the accuracy of `mhks` in % on all test samples, and the seconds to fit the
map. Errors and accuracies are means over three seeds, times the smallest of the three.

    python examples/feature_maps.py --letters letter.csv
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from mklkit import MKLClassifier, get_registry
from mklkit.kernels import RBF

MAPS = {
    "uniform": "empirical(subset={})",
    "kmeans": "empirical(subset={}, landmarks=kmeans)",
    "leverage": "empirical(subset={}, landmarks=leverage)",
    "fourier": "fourier(n_components={})",
}
SAMPLE = 2000
Rows = NDArray[np.float64]


def data_sets(n_rows: int, letters: str | None) -> Iterator[tuple[str, Rows, NDArray[Any]]]:
    """Yield names, samples and two classes."""
    rows, labels = make_classification(
        n_rows, 20, n_informative=10, n_clusters_per_class=8, class_sep=1.5, random_state=0
    )
    yield "clusters (20 columns)", rows, labels
    # Rows in all directions, most near zero and some far away.
    random = np.random.RandomState(0)
    rows = random.normal(size=(n_rows, 4)) * np.exp(random.normal(size=(n_rows, 1)))
    yield "far rows (4 columns)", rows, rows[:, 0] * rows[:, 1] > 0
    if letters is not None:
        table = pd.read_csv(letters)
        first_half = table.pop("target") < "N"
        yield "letters A–M, N–Z (16 columns)", table.to_numpy(float), first_half.to_numpy()


def measured(spec: str, rows: list[Rows], labels: list[NDArray[Any]], seed: int) -> list[float]:
    """Return a map's error, accuracy and seconds, for training and test samples and labels."""
    kernel = RBF(gamma=RBF(sigma="mean/2").fit(rows[0][:SAMPLE]).gamma)
    feature_map = get_registry().create("feature_map", spec)
    fitted_kernel = kernel.fit(rows[0])
    start = time.perf_counter()
    fitted = feature_map.fit(fitted_kernel, rows[0], np.random.RandomState(seed))
    seconds = time.perf_counter() - start
    sample = rows[1][:SAMPLE]
    gram, features = fitted_kernel(sample, sample), fitted.transform(sample)
    error = np.linalg.norm(gram - features @ features.T) / np.linalg.norm(gram)
    model = MKLClassifier(kernel, feature_map=feature_map, learner="mhks", random_state=seed)
    accuracy = 100 * model.fit(rows[0], labels[0]).score(rows[1], labels[1])
    return [float(error), accuracy, seconds]


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--rows", type=int, default=20_000, help="training and test samples")
    arguments.add_argument("--features", type=int, nargs="+", default=[64, 256, 1024])
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--letters", metavar="FILE", help="UCI's letters, classes in 'target'")
    options = arguments.parse_args()
    print(f"| set | p | {' | '.join(MAPS)} |\n|---|--:|{'---|' * len(MAPS)}")
    for name, rows, labels in data_sets(options.rows, options.letters):
        cut = train_test_split(scale(rows), labels, test_size=0.25, random_state=0)
        for p in options.features:
            cells = [name, str(p)]
            for spec in MAPS.values():
                runs = [
                    measured(spec.format(p), cut[:2], cut[2:], seed)
                    for seed in range(options.seeds)
                ]
                error, accuracy, _ = np.mean(runs, axis=0)
                seconds = min(run[2] for run in runs)
                cells.append(f"{error:.2g}, {accuracy:.1f}, {seconds:.1f} s")
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
