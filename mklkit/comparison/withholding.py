"""Verdicts that are withheld: on methods that still tell removed covariates, or on all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import joblib
import pandas as pd

from mklkit.comparison.data import DataSet
from mklkit.comparison.methods import Method
from mklkit.datasets.adjusting import Adjustment
from mklkit.datasets.covariates import still_told
from mklkit.datasets.pipeline import for_table
from mklkit.errors import listed, named

Unadjusted = Mapping[str, Sequence[str]]
"""The columns that still tell the covariates, of each method that reads some."""
TESTED = ["difference", "median", "low", "high", "level", "p_value", "p_holm"]
"""The numbers of a planned test that are withheld."""
P_VALUES = ["difference_low", "difference_high", "p_corrected", "p_paired"]
P_VALUES += ["p_worse", "p_equivalent", "p_better"]
"""The numbers of a table of methods that are withheld."""


def with_unadjusted(
    data: Sequence[DataSet], methods: Sequence[Method]
) -> tuple[list[DataSet], dict[str, dict[str, list[str]]]]:
    """Return the data, with notes on columns that still tell removed covariates, and by the name
    of each data set, these columns of each method that reads some. It warns if there are any."""
    unadjusted = {source.name: _of_methods(source, methods) for source in data}
    noted = [
        attrs.evolve(source, notes=[*source.notes, *_note(unadjusted[source.name])])
        for source in data
    ]
    return noted, unadjusted


def _of_methods(data: DataSet, methods: Sequence[Method]) -> dict[str, list[str]]:
    """Return the unadjusted columns of each method that reads some."""
    adjustments: dict[str, Adjustment] = {}
    unadjusted: dict[str, list[str]] = {}
    for method in methods:
        steps = for_table(method.pipeline[:-1], data.schema)
        key = joblib.hash(steps)
        if key not in adjustments:
            adjustments[key] = Adjustment.of(steps, data.features, data.target)
        if columns := adjustments[key].read_by(method.pipeline[-1]):
            unadjusted[method.name] = columns
    for adjustment in list(adjustments.values())[:1]:
        adjustment.warn()
    return unadjusted


def _note(unadjusted: Unadjusted) -> list[str]:
    """Return a note that names the columns of unadjusted methods, none if there are none."""
    columns = list(dict.fromkeys(name for of_method in unadjusted.values() for name in of_method))
    return [still_told(named(columns))] if columns else []


def without_verdicts(
    tests: pd.DataFrame, unadjusted: Unadjusted, why_none: str = ""
) -> pd.DataFrame:
    """Return planned tests with ``withheld``: those of unadjusted methods, without their numbers.

    All are withheld if ``why_none`` is not empty; ``no_verdict`` says why.

    Examples
    --------
    >>> tests = pd.DataFrame({"method": ["a", "b"], "reference": "c", "p_holm": 0.01})
    >>> without_verdicts(tests, {"b": ["snp"]})[["withheld", "p_holm"]].to_numpy().tolist()
    [[False, 0.01], [True, nan]]
    """
    reasons = []
    for pair in zip(tests["method"], tests["reference"], strict=True):
        methods = [name for name in pair if name in unadjusted]
        reasons.append(still_told(columns_read_by(methods)) if methods else why_none)
    why = pd.Series(reasons, tests.index, dtype=object)
    withheld = why != ""
    numbers = tests.columns.intersection(TESTED)
    return tests.assign(withheld=withheld, no_verdict=why, **tests[numbers].mask(withheld))


def without_p_values(
    table: pd.DataFrame, unadjusted: Unadjusted, reference: str | None, why_none: str = ""
) -> pd.DataFrame:
    """Return a table of methods without the p values that an unadjusted method is part of.

    It has none if ``why_none`` is not empty. The ``reference`` is that of the tests; None for the
    best method, the first that never failed.
    """
    best = next(iter(table.loc[table["failures"] == 0, "method"]), None)
    withheld = table["method"].isin(unadjusted) | ((reference or best) in unadjusted)
    withheld |= why_none != ""
    return table.assign(**table[table.columns.intersection(P_VALUES)].mask(withheld))


def columns_read_by(methods: Sequence[str]) -> str:
    """Return the columns of unadjusted methods in words."""
    return f"the columns that {listed(list(methods))} read{'s' * (len(methods) == 1)}"


def sentences(tests: pd.DataFrame) -> list[str]:
    """Return the sentence of each withheld question."""
    return [
        f"{test['question']}: no verdict on {test['method']} against {test['reference']}:"
        f" {test['no_verdict']}."
        for test in tests.to_dict("records")
    ]
