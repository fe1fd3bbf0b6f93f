"""Generated rows for benchmarks: any number, of one distribution, written block by block."""

from __future__ import annotations

from pathlib import Path

import numpy as np

BLOCK = 100_000
N_COLUMNS, N_INFORMATIVE, N_REDUNDANT, N_CLUSTERS = 20, 10, 4, 4


def write_rows(folder: Path, n_rows: int, seed: int) -> None:
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


def read_rows(folder: Path, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in memory and their labels, written at first use."""
    names = [folder / f"{kind}{n_rows}-{seed}.npy" for kind in "Xy"]
    if not names[1].exists():
        write_rows(folder, n_rows, seed)
    return np.load(names[0]), np.load(names[1])
