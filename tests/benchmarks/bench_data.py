"""Generated rows for benchmarks; the tables of a page name the function and its seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

SOURCES = ("first", "second", "third")
BLOCK = 100_000
N_COLUMNS, N_INFORMATIVE, N_REDUNDANT, N_CLUSTERS = 20, 10, 4, 4


def write_clusters(folder: Path, n_rows: int, seed: int) -> None:
    """Write X (n_rows, 20) in float32 and y (n_rows,) to ``X{n_rows}-{seed}.npy`` and ``y…``.

    As scikit-learn's ``make_classification``: four clusters per class about corners of a cube, each
    with its own covariance, combinations of these columns, noise, and 1 % of labels exchanged. The
    clusters do not depend on the seed, of which rows are drawn.
    """
    fixed = np.random.default_rng(20080514)
    corners = fixed.permutation(2**N_INFORMATIVE)[: 2 * N_CLUSTERS]
    centers = 2.0 * (corners[:, None] >> np.arange(N_INFORMATIVE) & 1) - 1
    shapes = fixed.uniform(-1, 1, size=(2 * N_CLUSTERS, N_INFORMATIVE, N_INFORMATIVE))
    mixing = fixed.uniform(-1, 1, size=(N_INFORMATIVE, N_REDUNDANT))
    n_noise = N_COLUMNS - N_INFORMATIVE - N_REDUNDANT
    names = [folder / f"{kind}{n_rows}-{seed}.npy" for kind in "Xy"]
    X = np.lib.format.open_memmap(names[0], "w+", np.float32, (n_rows, N_COLUMNS))
    y = np.empty(n_rows, dtype=np.int8)
    scale = None
    for number, start in enumerate(range(0, n_rows, BLOCK)):
        draw = np.random.default_rng([seed, number])
        size = min(BLOCK, n_rows - start)
        clusters = draw.integers(2 * N_CLUSTERS, size=size)
        columns = draw.normal(size=(size, N_INFORMATIVE))
        for cluster, (center, shape) in enumerate(zip(centers, shapes, strict=True)):
            members = clusters == cluster
            columns[members] = columns[members] @ shape + center
        rows = np.hstack([columns, columns @ mixing, draw.normal(size=(size, n_noise))])
        scale = (rows.mean(axis=0), rows.std(axis=0)) if scale is None else scale
        X[start : start + size] = (rows - scale[0]) / scale[1]
        y[start : start + size] = (clusters % 2) ^ (draw.random(size) < 0.01)
    X.flush()
    np.save(names[1], y)


def clusters(folder: Path, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in memory and their labels, written at first use."""
    names = [folder / f"{kind}{n_rows}-{seed}.npy" for kind in "Xy"]
    if not names[1].exists():
        write_clusters(folder, n_rows, seed)
    return np.load(names[0]), np.load(names[1])


def normal(n_rows: int, n_columns: int = 20, kind: str = "float64") -> np.ndarray:
    """Return independent standard normal columns."""
    return np.random.default_rng(0).normal(size=(n_rows, n_columns)).astype(kind)


def halves(n_rows: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns, and the sign of the first."""
    X = normal(n_rows, kind=kind)
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


def curved(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns, and the sign of x₀x₁ + x₂/2."""
    X = normal(n_rows)
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, 1.0, -1.0)


def quadrants(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ten normal columns, and whether x₀x₁ is positive."""
    X = normal(n_rows, 10)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def noisy(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised rows of two near classes, 10 % of whose labels are drawn again."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_rows, n_columns, n_informative=8, class_sep=0.7, flip_y=0.1, random_state=0
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def classes(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised rows of a cluster per class, in 30 columns."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_rows,
        30,
        n_informative=20,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=0,
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def waves(
    n_rows: int, n_targets: int, n_groups: int = 5, width: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of groups of normal columns, and targets that are waves of some of them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_groups * width))
    shares = random.dirichlet(np.full(n_groups, 0.5), size=n_targets)
    Y = 0.7 * random.normal(size=(n_rows, n_targets))
    for group in range(n_groups):
        block = X[:, group * width : (group + 1) * width]
        cosines = np.cos(
            0.7 * block @ random.normal(size=(width, 60)) + random.uniform(0, 6.28, 60)
        )
        part = cosines @ random.normal(size=(60, n_targets))
        Y += np.sqrt(shares[:, group]) * part / part.std(axis=0)
    return X, Y


def sources(n_rows: int, n_columns: int, seed: int) -> Any:
    """Return a data frame of three sources of normal columns, and their ``target``.

    The means of the two classes differ by 1 in the first three columns of each source.
    """
    import pandas as pd

    draw = np.random.default_rng([seed, n_columns])
    classes = draw.integers(2, size=n_rows)
    frames = []
    for name, places in zip(SOURCES, np.array_split(np.arange(n_columns), 3), strict=True):
        columns = draw.normal(size=(n_rows, len(places)))
        columns[:, :3] += classes[:, None] - 0.5
        frames.append(pd.DataFrame(columns.round(4)).add_prefix(f"{name}_"))
    return pd.concat(frames, axis=1).assign(target=np.array(["no", "yes"])[classes])
