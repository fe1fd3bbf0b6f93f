"""Print this package's time, weights and peak memory on the data given to MKLpy, as JSON."""

import json
import resource
import statistics
import sys
import time

import numpy as np
from mklkit_optimize import CKA, EasyMKL

from mklkit import MKLClassifier
from mklkit.kernels import Precomputed


def timed(base):
    """Return a combiner that records how long computing its weights took."""

    class Timed(base):
        def weights(self, views, y):
            taken = []
            for _ in range(15 if method == "easymkl" else 1):
                start = time.perf_counter()
                weights = super().weights(views, y)
                taken.append(time.perf_counter() - start)
            said["seconds"] = statistics.median(taken)
            said["weights"] = (weights / weights.sum()).tolist()
            said["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            said["grown"] = said["peak"] - said.pop("before")
            return weights

    return Timed


if __name__ == "__main__":
    said: dict = {}
    method, source, folder = sys.argv[1:]
    rows, labels = np.load(f"{folder}/rows.npy"), np.load(f"{folder}/labels.npy")
    if source == "grams":
        kernels = [(f"k{m}", Precomputed(np.load(f"{folder}/gram_{m}.npy"))) for m in range(5)]
        rows = np.arange(len(labels), dtype=float)[:, None]
    else:
        kernels = [f"rbf(gamma=0.25)@{4 * m}:{4 * m + 4}" for m in range(5)]
    combiner = timed(EasyMKL)(alpha=0.1, normalise=False) if method == "easymkl" else timed(CKA)()
    # Load compiled code and libraries before the timing, as MKLpy's are.
    said["before"] = 0
    few = np.r_[:20, len(labels) - 20 : len(labels)]
    MKLClassifier(kernels=kernels, combiner=combiner).fit(rows[few], labels[few])
    said["before"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    MKLClassifier(kernels=kernels, combiner=combiner).fit(rows, labels)
    print(json.dumps(said))
