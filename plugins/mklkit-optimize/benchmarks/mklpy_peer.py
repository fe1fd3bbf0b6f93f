"""Print MKLpy's time, weights and peak memory as JSON; run by the interpreter that has it."""

import json
import resource
import statistics
import sys
import time

import numpy as np
import torch
from MKLpy.algorithms import CKA, EasyMKL

if __name__ == "__main__":
    torch.set_num_threads(1)
    method, folder = sys.argv[1:]
    grams = [torch.tensor(np.load(f"{folder}/gram_{m}.npy")) for m in range(5)]
    labels = torch.tensor(np.load(f"{folder}/labels.npy"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    algorithm = EasyMKL(lam=0.1) if method == "easymkl" else CKA()
    taken = []
    for _ in range(15 if method == "easymkl" else 1):
        start = time.perf_counter()
        solution = algorithm.combine_kernels(grams, labels)
        taken.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    weights = np.asarray(solution.weights, dtype=float).tolist()
    said = {
        "seconds": statistics.median(taken),
        "weights": weights,
        "peak": peak,
        "grown": peak - before,
    }
    print(json.dumps(said))
