"""MKLGL, GAMKL and DeFIMKL, which paper 003 compares with DiMKL, and its Table 6.

The protocol is that of paper_003.py: the same five kernels, scaling, libsvm with C = 1 and splits.
The systems are plugins: mklkit-optimize has MKLGL and GAMKL, mklkit-fusion has DeFIMKL. Run

    python examples/paper_003_peers.py --data FOLDER

It prints a Markdown table; 100 splits take about five minutes.
"""

from __future__ import annotations

from collections.abc import Iterator

from paper_003 import Table, compare, scaled
from protocols import require_plugins
from sklearn.pipeline import Pipeline

COMBINERS = {
    "MKLGL (p = 1)": "mklgl",
    "MKLGL (p = 2)": "mklgl(p=2)",
    "GAMKL": "gamkl",
    "DeFIMKL": "defimkl",
}
NEEDED = {"mklgl": "mklkit-optimize", "gamkl": "mklkit-optimize", "defimkl": "mklkit-fusion"}

# Accuracy and standard deviation in per cent, by data set (paper 003, Table 6); p is not given.
MKLGL = ((83.31, 7.98), (94.08, 2.32), (95.68, 1.49))
PUBLISHED: Table = {
    "MKLGL (p = 1)": MKLGL,
    "MKLGL (p = 2)": MKLGL,
    "GAMKL": ((85.60, 5.22), (94.49, 2.49), (97.06, 1.48)),
    "DeFIMKL": ((82.60, 7.89), (93.01, 2.96), (96.11, 1.63)),
}


def methods() -> Iterator[tuple[str, Pipeline]]:
    """Yield each method's name and its classifier, scaling included."""
    require_plugins(NEEDED)
    for name, combiner in COMBINERS.items():
        yield name, scaled(combiner=combiner)


if __name__ == "__main__":
    compare(__doc__, methods(), PUBLISHED)
