"""From a model to an archive that can be loaded again, and the trial of a model on a few rows."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mklkit.errors import ModelFileError
from mklkit.persistence.archive import MODEL_MEMBER, believable, countable, schema_in
from mklkit.persistence.contents import check_parameters
from mklkit.persistence.trust import listed, reasons, unknown_types

__all__ = ["COMPRESSION", "TRIALS", "decide_trial", "find_trial", "packed"]

# The values of the rows. A table encoder or an imputer turns gaps into typical values, while a
# classifier by itself refuses them.
TRIALS = {"mixed": (np.nan, 0.0, 1.0), "gaps": (np.nan,) * 3, "numbers": (0.0, 1.0, -1.0)}
WIDEST = 1_000_000
# Decision values near the largest float on typical rows are infinite on others.
LARGEST = 1e150


class Inconsistent(ValueError):
    """A model whose parts do not match."""


def find_trial(model: Any) -> str | None:
    """Return the kind of rows that a model accepts, or None, for example if it takes text."""
    for kind in TRIALS:
        try:
            decide_trial(model, kind)
        except Exception:
            # A step may refuse such rows with any exception; then this kind is skipped.
            continue
        return kind
    return None


def decide_trial(model: Any, kind: str) -> None:
    """Predict a few rows.

    Raises
    ------
    Exception
        Any exception of an inconsistent model, or if the result is not one class per row with
        finite probabilities and decision values of the right shape, or else one value or several of
        a sensible size for each row.
    """
    from joblib import parallel_config

    # Three rows need no processes, whatever number of jobs a file asks for.
    with warnings.catch_warnings(), np.errstate(all="ignore"), parallel_config("sequential"):
        warnings.simplefilter("ignore")
        getattr(model, "named_steps", None)  # for pipelines, raises if a step has no name
        rows = _rows(model, TRIALS[kind])
        # An array in place of a number works for one number of rows only, so two are tried.
        for part in (rows, rows[1:]):
            _decide(model, part)


def _decide(model: Any, rows: Any) -> None:
    if hasattr(model, "classes_"):
        _decide_classes(model, rows)
        return
    n_rows = len(rows)
    for method in ("predict", "decision_function", "transform"):
        if hasattr(model, method):
            values = np.asarray(getattr(model, method)(rows))
            _expect(f"the values of {method}", values.shape[:1], (n_rows,))
            if not (np.abs(values) < LARGEST).all():
                raise Inconsistent(f"the values of {method} are not finite or close to overflow")


def _decide_classes(model: Any, rows: Any) -> None:
    n_rows, n_classes = len(rows), len(model.classes_)
    _expect("classes", np.shape(model.classes_), (n_classes,))
    _expect("predictions", np.shape(model.predict(rows)), (n_rows,))
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(rows))
        _expect("probabilities", probabilities.shape, (n_rows, n_classes))
        if not np.isfinite(probabilities).all():
            raise Inconsistent("the probabilities are not finite")
    if hasattr(model, "decision_function"):
        decisions = np.asarray(model.decision_function(rows))
        shape = (n_rows,) if n_classes == 2 else (n_rows, n_classes)
        _expect("decision values", decisions.shape, shape)
        if not (np.abs(decisions) < LARGEST).all():
            raise Inconsistent("the decision values are infinite, NaN or close to overflow")


def _rows(model: Any, values: tuple[float, ...]) -> Any:
    import pandas as pd

    width = model.n_features_in_
    if width > WIDEST:
        raise Inconsistent(f"{width} features are too many for a trial")
    names = getattr(model, "feature_names_in_", None)
    rows = np.repeat([values], width, axis=0).T
    return rows if names is None else pd.DataFrame(rows, columns=names)


def _expect(quantity: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected:
        raise Inconsistent(f"{quantity} have the shape {shape} where {expected} is expected")


# Rows kept for prediction compress little; a fast level is enough for the rest.
COMPRESSION: dict[str, int] = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}
# Attributes in which scikit-learn's composite estimators keep pairs of name and estimator.
NAMED_PARTS = ("steps", "transformer_list", "transformers_", "estimators")


def packed(model: Any) -> bytes:
    """Return a fitted model as a skops archive.

    Raises
    ------
    ModelFileError
        If something in it could not be loaded again; the step that holds it is named.
    """
    archive, problem = _attempt(model)
    if archive is not None:
        return archive
    steps: list[str] = []
    part = model
    parts = _parts if _first_problem(_parts(part)) else _fitted_parts
    while found := _first_problem(parts(part)):
        name, part, problem = found
        steps.append(repr(name))
    where = f" because of its step {' > '.join(steps)} ({type(part).__name__})" if steps else ""
    best = " Save its best_estimator_." if hasattr(model, "best_estimator_") else ""
    raise ModelFileError(f"This model can't be saved{where}: {problem}{best}")


def _attempt(model: Any) -> tuple[bytes | None, str]:
    """Return an archive and no problem, or no archive and the problem."""
    from skops.io import dumps

    try:
        check_parameters(model)
        archive = dumps(model, **COMPRESSION)
    except (ModelFileError, TypeError, ValueError, AttributeError, RecursionError) as error:
        return None, str(error) or type(error).__name__
    unknown = unknown_types(archive)
    if unknown:
        return None, (
            f"{listed(unknown)} registered neither by mklkit nor by a plugin (by"
            f" @register), so that it could not be loaded again.{reasons(unknown)}"
        )
    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        unpacked = sum(member.file_size for member in zip_file.infolist())
        text = zip_file.read(MODEL_MEMBER)
    _, n_nodes = schema_in(text)
    plausible = (
        believable(unpacked, len(archive))
        and believable(len(text), len(archive), json=True)
        and countable(n_nodes, len(archive))
    )
    return (archive if plausible else dumps(model)), ""


def _first_problem(parts: Iterable[tuple[str, Any]]) -> tuple[str, Any, str] | None:
    """Return the name of the first part that can't be saved, the part and the problem."""
    for name, part in parts:
        _, problem = _attempt(part)
        if problem:
            return name, part, problem
    return None


def _parts(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield the named estimators inside an estimator."""
    for attribute in NAMED_PARTS:
        for name, part, *_ in getattr(estimator, attribute, None) or ():
            yield name, part
    if not hasattr(estimator, "steps") and hasattr(estimator, "get_params"):
        for name, part in estimator.get_params(deep=False).items():
            if hasattr(part, "get_params"):
                yield name, part


def _fitted_parts(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fitted copies of estimators, for when the given ones can be saved."""
    for name, value in getattr(estimator, "__dict__", {}).items():
        several = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1)
        for place, part in enumerate(value if several else [value]):
            # scikit-learn's calibrated pairs are not estimators, but give probabilities.
            if hasattr(part, "get_params") or hasattr(part, "predict_proba"):
                yield f"{name}[{place}]" if several else name, part
    yield from _parts(estimator)
