"""Print time, weights and peak memory as JSON: ``mklpy``, or ours from ``grams`` or ``rows``.

The first is run by an interpreter that has MKLpy, and need not have mklkit.
"""

import json
import resource
import statistics
import sys
import time

import numpy as np


def peak():
    """Return the most memory that the process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(method, combine):
    """Return the median time and the result of calls."""
    taken = []
    for _ in range(15 if method == "easymkl" else 1):
        start = time.perf_counter()
        result = combine()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), result


def of_mklpy(method, grams, labels):
    """Return MKLpy's time and weights for Gram matrices."""
    import torch
    from MKLpy.algorithms import CKA, EasyMKL

    torch.set_num_threads(1)
    grams, labels = [torch.tensor(gram) for gram in grams], torch.tensor(labels)
    algorithm = EasyMKL(lam=0.1) if method == "easymkl" else CKA()
    seconds, solution = measured(method, lambda: algorithm.combine_kernels(grams, labels))
    return seconds, np.asarray(solution.weights, dtype=float)


def of_mklkit(method, kernels, rows, labels):
    """Return our time and weights."""
    from mklkit_optimize import CKA, EasyMKL

    from mklkit import MKLClassifier

    runs = []
    base = EasyMKL if method == "easymkl" else CKA

    class Timed(base):
        def weights(self, views, y):
            runs.append(measured(method, lambda: base.weights(self, views, y)))
            return runs[-1][1]

    combiner = Timed(alpha=0.1, normalize=False) if method == "easymkl" else Timed()
    # The first fit loads compiled code and libraries, as MKLpy's are.
    for few in (np.r_[:20, len(labels) - 20 : len(labels)], slice(None)):
        MKLClassifier(kernels=kernels, combiner=combiner).fit(rows[few], labels[few])
    return runs[-1]


if __name__ == "__main__":
    source, method, folder = sys.argv[1:]
    rows, labels = np.load(f"{folder}/rows.npy"), np.load(f"{folder}/labels.npy")
    kernels = [f"rbf(gamma=0.25)@{4 * m}:{4 * m + 4}" for m in range(5)]
    if source != "rows":
        grams = [np.load(f"{folder}/gram_{m}.npy") for m in range(5)]
    if source == "mklpy":
        seconds, weights = of_mklpy(method, grams, labels)
    else:
        if source == "grams":
            from mklkit.kernels import Precomputed

            kernels = [(f"k{m}", Precomputed(gram)) for m, gram in enumerate(grams)]
            rows = np.arange(len(labels), dtype=float)[:, None]
        seconds, weights = of_mklkit(method, kernels, rows, labels)
    print(json.dumps({"seconds": seconds, "weights": weights.tolist(), "peak": peak()}))
