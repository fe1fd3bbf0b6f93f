"""From a model to a skops archive that can be loaded again, or an error that names the step."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mklkit.errors import ModelFileError
from mklkit.persistence.archive import believable
from mklkit.persistence.contents import check_parameters
from mklkit.persistence.schema import MODEL_MEMBER, countable, schema_in
from mklkit.persistence.trust import listed, reasons, unknown_types

__all__ = ["COMPRESSION", "packed"]

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
            f"{listed(unknown)} registered neither by mklkit nor by a plugin (through"
            f" mklkit_model_types), so that it could not be loaded again.{reasons(unknown)}"
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
