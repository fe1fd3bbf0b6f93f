"""A comparison with names that would break a page, made without fitting anything."""

from __future__ import annotations

import attrs
import numpy as np
import pandas as pd

from mklkit.comparison.comparison import Comparison
from mklkit.comparison.data import data_sets
from mklkit.comparison.design import Design
from mklkit.comparison.line_up import methods_to_compare
from mklkit.comparison.stored import Cell
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation.study import Roles

EVIL = "</script><script>window.broken = 1</script>\"'&<img src=x onerror='window.broken=1'>"
LONG = "dimkl6(rank=5, floor=0.001) + a-name-without-any-place-to-break-" + "x" * 60
REASON = "the kernel <b>'linear'</b> overflows; scale the columns"
LABELS = ["ill \x07", EVIL]
SURROGATE = "half \udcff"
"""Of a file whose name is not in UTF-8."""


def comparison(n_datasets: int = 1, n_methods: int = 9) -> Comparison:
    """Return made-up scores, the better the earlier the method; the third fails."""
    (plain, *_), _, _ = methods_to_compare(
        "alignment", (), Design(settings=ModelSettings(kernels="linear"))
    )
    kinds = ("method", "one kernel", "baseline")
    names = [EVIL, LONG, "failing", *(f"method {i}" for i in range(3, n_methods))]
    methods = [
        attrs.evolve(plain, name=name, kind=kinds[place % 3]) for place, name in enumerate(names)
    ]
    features = pd.DataFrame({EVIL: [1.0, np.nan] * 10, "pulse": np.arange(20.0)})
    source = features, np.array(LABELS * 10)
    names = [f"set {place} {EVIL} {SURROGATE}" for place in range(n_datasets)]
    sets = [
        attrs.evolve(data, summary=EVIL, notes=[f"note {EVIL}"])
        for data in data_sets(dict.fromkeys(names, source), None, Roles())
    ]
    plan = {
        "data": [data.metadata() for data in sets],
        "splits": [
            {
                "name": data.name,
                "description": "4 folds",
                "number": 4,
                "training": [15, 15],
                "samples": 20,
                "digest": "0",
            }
            for data in sets
        ],
        "margins": {data.name: 0.02 for data in sets},
        "resolution": {},
        "seed": 0,
        "task": "classification",
        "score": "accuracy",
        "tune": "fast",
        "methods": [method.metadata() for method in methods],
        "versions": {"mklkit": "0.1.0"},
        "questions": [{"question": "Weights", "method": EVIL, "references": [LONG]}],
        "reference": None,
    }
    rng = np.random.default_rng(0)
    cells = [
        _cell(Cell(data=data.name, method=method.name, kind=method.kind, repeat=0, fold=fold,
                   n_train=15, n_test=5), place, rng)
        for data in sets
        for fold in range(4)
        for place, method in enumerate(methods)
    ]  # fmt: skip
    return Comparison(cells, sets, methods, plan, [f"left out: {EVIL}"], True)


def _cell(cell: Cell, place: int, rng: np.random.Generator) -> Cell:
    if cell.method == "failing":
        return attrs.evolve(cell, reason=REASON)
    accuracy = round(0.9 - 0.02 * place + 0.01 * float(rng.normal()), 4)
    probabilities = {"rows": [2, *[0] * 8, 3], "probability": [0.1, *[0] * 8, 2.9]}
    return attrs.evolve(
        cell,
        score=accuracy,
        scores={
            **dict.fromkeys(("accuracy", "balanced_accuracy", "auc"), accuracy),
            **({"log_loss": 0.3} if cell.kind == "baseline" else {}),
        },
        seconds=0.1 * (place + 1),
        predict_seconds=0.1,
        refit_seconds=0.1,
        memory=1e6 * place,
        params={"C": EVIL},
        weights={f"rbf {EVIL}": 0.25, "linear": 0.75} if cell.kind == "method" else None,
        details={
            "confusion": [[2, 1], [0, 2]],
            "calibration": {**probabilities, "hits": [1, *[0] * 8, 3]},
        },
    )
