"""Milliseconds that each kernel takes for a tile of 256 × 1,024 rows, the least of seven runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mklkit import get_registry
from mklkit.registry.readings import category_codes, text_codes

RUNS = 7
SHAPE = (256, 1024)
RANDOM = np.random.default_rng(0)


def letters(length: int, alphabet: str) -> Callable[[int], Any]:
    """Return a function that draws so many texts of a length."""
    return lambda n: text_codes("".join(row) for row in RANDOM.choice(list(alphabet), (n, length)))


def sentences(n: int) -> Any:
    """Return texts of 50 words of 5,000, frequent and rare ones."""
    shares = 1 / np.arange(1, 5001)
    drawn = RANDOM.choice(5000, (n, 50), p=shares / shares.sum())
    return text_codes(" ".join(f"w{word}" for word in row) for row in drawn)


CASES: list[tuple[str, Callable[[int], Any], list[str]]] = [
    (
        "DNA of 60 letters",
        letters(60, "ACGT"),
        [
            "spectrum(k=3)",
            "mismatch(k=3, m=1)",
            "mismatch(k=5, m=1)",
            "weighted-degree(degree=8)",
            "weighted-degree(degree=8, shift=3)",
        ],
    ),
    (
        "proteins of 300 letters",
        letters(300, "ACDEFGHIKLMNPQRSTVWY"),
        ["spectrum(k=3)", "mismatch(k=3, m=1)", "mismatch(k=5, m=1)", "weighted-degree(degree=8)"],
    ),
    ("50 words", sentences, ["spectrum(k=1, words=True)", "spectrum(k=3)", "token-set"]),
    (
        "60 columns of 4 categories",
        lambda n: category_codes(RANDOM.integers(0, 4, (n, 60))),
        ["overlap", "frequency-overlap"],
    ),
    (
        "60 columns of counts",
        lambda n: RANDOM.poisson(1.0, (n, 60)).astype(float),
        ["tanimoto", "min-max", "intersection", "hellinger", "chi2", "periodic"],
    ),
    (
        "60 columns of 0 and 1",
        lambda n: (RANDOM.random((n, 60)) < 0.4).astype(float),
        ["monotone-conjunctive", "monotone-disjunctive", "conjunctive", "disjunctive"],
    ),
]


def milliseconds(kernel: Any, a: Any, b: Any) -> float:
    """Return the least time of some calls."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        kernel(a, b)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


if __name__ == "__main__":
    with threadpool_limits(1):
        print("| rows | kernel | ms |\n|---|---|--:|")
        for label, draw, specs in CASES:
            a, b = map(draw, SHAPE)
            for spec in specs:
                kernel = get_registry().create("kernel", spec).fit(b)
                print(f"| {label} | `{spec}` | {milliseconds(kernel, a, b):.0f} |", flush=True)
