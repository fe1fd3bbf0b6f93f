"""What the benchmarks measure, each in a process of its own, which ``table.py`` starts.

``python bench_cases.py NAME JSON`` prints a JSON object with ``seconds``, and ``mebibytes`` by the
operating system's accounting: the most that the process has held, its libraries (about 200 MiB)
included.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench_data import (
    classes,
    clusters,
    curved,
    halves,
    normal,
    quadrants,
    sources,
    waves,
    write_clusters,
)

Case = Callable[..., dict[str, Any]]
CASES: dict[str, Case] = {}
SIGMAS = (3.0, 6.0, 12.0, 4.0, 8.0)
"""For standardised rows of 20 columns; the first three are those beside scikit-learn."""
GAMMAS = (0.001, 0.005, 0.02, 0.1, 0.5)
TEST_ROWS, PREDICTED_ROWS, N_CALLS = 20_000, 100_000, 200


def case(function: Case) -> Case:
    """Register a function under its name."""
    CASES[function.__name__] = function
    return function


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a call took, and its result."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def least(run: Callable[[], Any], repeats: int = 5) -> float:
    """Return the least of several times."""
    return min(seconds(run)[0] for _ in range(repeats))


def gemm(kind: Any, size: int) -> float:
    """Return the speed of a product of square matrices in GFlop/s."""
    a = normal(size, size, kind)
    return 2e-9 * size**3 / least(lambda: a @ a)


def bandwidth(mebibytes: int) -> float:
    """Return the speed at which an array much larger than the caches is read, in GB/s."""
    array = np.ones((mebibytes * 2**18 // 1024, 1024), np.float32)
    vector = np.ones(1024, np.float32)
    return 1e-9 * array.nbytes / least(lambda: array @ vector)


@case
def machine(size: int = 3000, mebibytes: int = 512) -> dict[str, Any]:
    """Measure what this machine can do at most."""
    import sklearn

    return {
        "cores": os.cpu_count(),
        "float32": gemm(np.float32, size),
        "float64": gemm(np.float64, size),
        "bandwidth": bandwidth(mebibytes),
        "versions": f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}",
    }


@case
def make_rows(folder: str, n_rows: int, seed: int) -> dict[str, Any]:
    """Write the rows of a benchmark."""
    return {"seconds": seconds(lambda: write_clusters(Path(folder), n_rows, seed))[0]}


@case
def weights(n_rows: int, kind: str, statistic: str) -> dict[str, Any]:
    """Statistics of five rbf kernels on rows, tile by tile."""
    from helpers.builders import views_of

    from mklkit.views.statistics import TileStatistics
    from mklkit.views.tiles import weighted_gram

    def compute(tiles: TileStatistics, y: np.ndarray) -> None:
        if statistic == "sum_of_gram_matrices":
            weighted_gram(tiles.kernel_rows, np.full(len(GAMMAS), 1 / len(GAMMAS)))
        elif statistic.endswith("alignments"):
            tiles.alignments(y, centered=statistic == "centred_alignments")
        else:
            quadrants = tiles.quadrants(y)
            if statistic == "quartiles":
                spreads = [(q.within_positive, q.between) for q in quadrants]
                assert all(part.interquartile_range >= 0 for pair in spreads for part in pair)

    for size in (600, n_rows):  # compiles first
        rows, y = halves(size, kind)
        kernels = views_of([f"rbf(gamma={gamma})" for gamma in GAMMAS], rows).learner_kernels
        taken, _ = seconds(lambda kernels=kernels, y=y: compute(TileStatistics(kernels), y))
    return {"seconds": taken}


@case
def rbf_kernel(n_rows: int, kind: str) -> dict[str, Any]:
    """One Gram matrix of scikit-learn."""
    from sklearn.metrics import pairwise

    rows = normal(n_rows, kind=kind)
    return {"seconds": seconds(lambda: pairwise.rbf_kernel(rows, gamma=0.05))[0]}


def kernels_of(count: int) -> list[str]:
    return [f"rbf(sigma={sigma})" for sigma in SIGMAS[:count]]


def fitted(fit: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """Fit, and return what that took, with the memory beyond that of before, and the model."""
    before = peak()
    taken, model = seconds(fit)
    return {"seconds": taken, "mebibytes": peak(), "added": peak() - before}, model


def told(fit: Callable[[], Any], folder: Path, asks: bool) -> dict[str, Any]:
    """Return what a fit took, its accuracy on new rows, and the speed of prediction."""
    facts, model = fitted(fit)
    X, y = clusters(folder, TEST_ROWS, 1)
    facts["accuracy"] = float((model.predict(X) == y).mean())
    if asks:
        many = np.resize(X, (PREDICTED_ROWS, X.shape[1]))
        facts["prediction"] = seconds(lambda: model.decision_function(many))[0]
        calls = [seconds(lambda i=i: model.decision_function(X[i : i + 1]))[0] for i in range(10)]
        calls = [
            seconds(lambda i=i: model.decision_function(X[i : i + 1]))[0] for i in range(N_CALLS)
        ]
        facts["one_row"] = float(np.median(calls))
    return facts


@case
def ours(
    folder: str,
    n_rows: int,
    combiner: str = "dimkl5",
    learner: str = "mhks",
    p: int = 256,
    n_kernels: int = 3,
    stored: bool = False,
    asks: bool = False,
) -> dict[str, Any]:
    """Fit on landmarks, from rows in memory or in a file."""
    from mklkit import MKLClassifier
    from mklkit.datasets import StoredRows

    def model(subset: int) -> Any:
        return MKLClassifier(
            kernels_of(n_kernels),
            feature_map=f"empirical(subset={subset})",
            combiner=combiner,
            learner=learner,
            random_state=0,
        )

    X, y = clusters(Path(folder), TEST_ROWS, 1)
    model(16).fit(X[:11_000], y[:11_000])  # compiles what many rows need
    if stored:
        del X
        source = Path(folder)
        rows: Any = StoredRows.of_npy(source / f"X{n_rows}-0.npy")
        y = np.load(source / f"y{n_rows}-0.npy")
    else:
        rows, y = clusters(Path(folder), n_rows, 0)
    return told(lambda: model(p).fit(rows, y), Path(folder), asks)


@case
def nystroem(folder: str, n_rows: int, p: int = 256, asks: bool = False) -> dict[str, Any]:
    """Fit scikit-learn's union of three Nyström maps and a linear classifier by SGD."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline, make_union

    gammas = [1 / (2 * sigma**2) for sigma in SIGMAS[:3]]
    maps = [Nystroem(gamma=gamma, n_components=p, random_state=0) for gamma in gammas]
    model = make_pipeline(make_union(*maps), SGDClassifier(random_state=0))
    X, y = clusters(Path(folder), n_rows, 0)
    return told(lambda: model.fit(X, y), Path(folder), asks)


@case
def full(folder: str, n_rows: int, method: str) -> dict[str, Any]:
    """Five rbf kernels on all rows, end to end, by us or by a library beside us."""
    from bench_peers import METHODS

    X, y = clusters(Path(folder), TEST_ROWS, 1)
    new = slice(n_rows, n_rows + 2000)
    fit, kernels = METHODS[method], [(sigma, slice(0, X.shape[1])) for sigma in SIGMAS]
    fit(X[:200], y[:200], kernels)(X[new][:10])  # compiles
    facts, answers = fitted(lambda: fit(X[:n_rows], y[:n_rows], kernels)(X[new]))
    return {**facts, "accuracy": float((answers == y[new]).mean())}


@case
def of_classes(n_rows: int, n_classes: int, method: str) -> dict[str, Any]:
    """An rbf kernel for each of three sources of ten columns: a fit, and as many new rows."""
    from bench_peers import METHODS
    from sklearn.model_selection import train_test_split

    # With few samples of a class, a plain split could leave it out of the fit.
    X, y = classes(2 * n_rows, n_classes)
    X, new, y, labels = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    fit, kernels = METHODS[method], [(5**0.5, slice(start, start + 10)) for start in (0, 10, 20)]
    for few in (2, 3):  # compiles
        fit(X[:200], y[:200] % few, kernels)(X[:10])
    facts, predict = fitted(lambda: fit(X, y, kernels))
    prediction, answers = seconds(lambda: predict(new))
    return {**facts, "prediction": prediction, "accuracy": float((answers == labels).mean())}


@case
def make_sources(folder: str, n_rows: int, n_columns: int, seed: int) -> dict[str, Any]:
    """Write a table of three sources as CSV."""
    path = Path(folder) / f"sources{n_columns}-{seed}.csv"
    taken, _ = seconds(lambda: sources(n_rows, n_columns, seed).to_csv(path, index=False))
    return {"seconds": taken}


@case
def command(words: list[str]) -> dict[str, Any]:
    """A process of Python from start to end; the most memory is its own."""
    words = [sys.executable, *words]
    taken, _ = seconds(lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=True))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    return {"seconds": taken, "mebibytes": most}


@case
def gating(n_rows: int) -> dict[str, Any]:
    """The whole of cluster gating with four rbf kernels, and its second stage beside naive sums."""
    from helpers.builders import views_of
    from oracles.gated import discriminant_matrices, naive_forms

    from mklkit import MKLClassifier
    from mklkit.combiners.cluster_gating.stages import gated_blocks, quadratic_forms
    from mklkit.numerics.graph_embedding import discriminant_graphs

    kernels = [f"rbf(sigma='{factor}*mean')" for factor in (0.1, 0.3, 1, 3)]
    rng = np.random.default_rng(0)
    X, y = quadrants(n_rows)

    def fit(size: int) -> Any:
        model = MKLClassifier(kernels, combiner="cluster-gating", learner="kda", random_state=0)
        return model.fit(X[:size], y[:size])

    fit(100)
    whole = min(seconds(lambda: fit(n_rows))[0] for _ in range(3))
    views, labels = views_of(kernels, X), np.arange(n_rows) % 2
    memberships, projection = rng.dirichlet(np.ones(4), size=n_rows), rng.normal(size=(n_rows, 1))
    embedded = discriminant_graphs(labels)

    def forms() -> Any:
        blocks = gated_blocks(views, memberships, projection)
        return quadratic_forms(blocks, projection, embedded, 1e-3)

    step = least(forms, 3)
    grams = [view.gram() for view in views]
    graphs = discriminant_matrices(labels)
    naive, _ = seconds(lambda: naive_forms(grams, memberships, projection, *graphs, 1e-3))
    return {"seconds": whole, "forms": step, "naive": naive}


@case
def grid(n_rows: int) -> dict[str, Any]:
    """All 81 points of the papers' grid beside one fit."""
    import test_bench_ifsl as own

    X, y = curved(n_rows)
    own.one_fit(X[:100], y[:100], "zeros")
    single = min(seconds(lambda: own.one_fit(X, y, "zeros"))[0] for _ in range(3))
    return {"seconds": seconds(lambda: own.whole_grid(X, y, "zeros"))[0], "single": single}


def classifier(**settings: Any) -> Any:
    from mklkit import MKLClassifier

    return MKLClassifier(kernels_of(5), random_state=0, **settings)


def coupled(n_rows: int) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """``ifsl`` on full maps beside one Cholesky factor."""
    from scipy.linalg import cho_factor

    X, y = curved(n_rows)
    matrix = X @ X.T + n_rows * np.eye(n_rows)
    model = classifier(combiner="ifsl", feature_map="empirical")
    return lambda n: model.fit(X[:n], y[:n]), lambda n: cho_factor(matrix[:n, :n])


def chosen(n_rows: int) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """``best-single`` beside ``uniform``."""
    X, y = curved(n_rows)
    ours, even = (classifier(combiner=name) for name in ("best-single", "uniform"))
    return lambda n: ours.fit(X[:n], y[:n]), lambda n: even.fit(X[:n], y[:n])


def summed(n_rows: int) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """``uniform`` with its choice of C beside one support vector machine of a single kernel."""
    from sklearn.svm import SVC

    X, y = curved(n_rows)
    ours, single = classifier(combiner="uniform"), SVC(gamma=1 / (2 * SIGMAS[1] ** 2))
    return lambda n: ours.fit(X[:n], y[:n]), lambda n: single.fit(X[:n], y[:n])


def searched(n_rows: int) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """The papers' grid of 81 points in three folds, and a fit, beside one fit."""
    from mklkit import MKLSearchCV

    X, y = curved(n_rows)
    model = classifier(combiner="ifsl", feature_map="empirical", learner="mhks")
    values = [2.0**k for k in range(-4, 5)]
    search = MKLSearchCV(model, {"combiner__lam": values, "learner__alpha": values}, cv=3)
    return lambda n: search.fit(X[:n], y[:n]), lambda n: model.fit(X[:n], y[:n])


def regressed(
    n_rows: int, n_targets: int = 60
) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """``loo-ridge`` on 60 targets beside himalaya's random search of 20 trials."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    from mklkit import MKLRegressor

    X, Y = waves(3250, n_targets)
    kernels = [f"rbf(sigma=2)@{4 * k}:{4 * k + 4}" for k in range(5)]
    ours = MKLRegressor(kernels, combiner="loo-ridge", random_state=0)
    settings = {"n_iter": 20, "alphas": np.logspace(-4, 4, 9), "progress_bar": False}

    def theirs(n: int) -> Any:
        parts = [X[:n, 4 * k : 4 * k + 4] for k in range(5)]
        grams = [np.exp(-((a[:, None] - a) ** 2).sum(axis=2) / 8) for a in parts]
        model = MultipleKernelRidgeCV(kernels="precomputed", solver_params=settings, random_state=0)
        return model.fit(np.array(grams), Y[:n] - Y[:n].mean(axis=0))

    return lambda n: ours.fit(X[:n], Y[:n]), theirs


STEPS = {f.__name__: f for f in (coupled, chosen, summed, searched, regressed)}


@case
def step(which: str, n_rows: int) -> dict[str, Any]:
    """A step of ours, and what is beside it: the least of three times each."""
    ours, beside = STEPS[which](n_rows)
    ours(100)
    beside(100)
    return {
        "seconds": least(lambda: ours(n_rows), 3),
        "beside": least(lambda: beside(n_rows), 3),
    }


@case
def searches(n_rows: int, n_columns: int) -> dict[str, Any]:
    """The search of 20 points in five folds, by hand, by us and by scikit-learn."""
    import test_bench_search as own

    return own.searches_beside_each_other(*own.settings(n_rows, n_columns))


@case
def shares(folder: str, n_rows: int, p: int = 256, size: int = 3000) -> dict[str, Any]:
    """The moments pass beside this machine's matrix products, a projection beside its memory."""
    from helpers.builders import views_of

    X, y = clusters(Path(folder), n_rows, 0)
    codes = y.astype(np.intp)
    views = views_of(kernels_of(3), X, f"empirical(subset={p})")
    blocks = views.blocks
    blocks.max_memory = 2**29  # Features are not kept: each pass makes them.
    blocks.moments([range(3)], codes, 2)
    moments = least(lambda: blocks.moments([range(3)], codes, 2), 2)
    width = sum(blocks.widths)
    # Inner products with landmarks, K_NS K_SS^(−1/2) of each view, and one half of ΦᵀΦ.
    flops = n_rows * (2.0 * X.shape[1] * p + 3 * 2.0 * p * p + width * (width + 1.0))
    some = views_of(kernels_of(1), X[: n_rows // 4], f"empirical(subset={p})").blocks
    features = some.features(0)
    vector = np.ones((features.shape[1], 1), features.dtype)
    projection = least(lambda: some.project({0: vector}))
    return {
        "seconds": moments,
        "gflops": 1e-9 * flops / moments,
        "peak": gemm(np.float32, size),
        "gigabytes": 1e-9 * features.nbytes / projection,
        "bandwidth": bandwidth(512),
    }


def peak() -> float:
    """Return the most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def main(name: str, settings: str) -> None:
    """Run one case and print what it found."""
    warnings.simplefilter("ignore")
    try:
        facts = CASES[name](**json.loads(settings))
    except ImportError as error:
        print(json.dumps({"missing": str(error.name)}))
        return
    print(json.dumps({"mebibytes": peak(), **facts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
