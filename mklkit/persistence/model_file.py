"""Saving and loading model files.

A file is read in steps, each of which may reject it: the archive (:mod:`.archive`), the metadata,
the nodes of the model (:mod:`.schema`) and their types (:mod:`.trust`), then the model itself: its
parameters and arrays (:mod:`.contents`), and a few rows that it decides (:mod:`.trial`).
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mklkit.errors import DataError, MKLKitError, ModelFileError, plain_message
from mklkit.estimators.introspection import FittedSearch
from mklkit.persistence.archive import (
    METADATA_MEMBER,
    damaged,
    fits,
    opened,
    read_json,
    repacked,
)
from mklkit.persistence.atomic import replacing
from mklkit.persistence.contents import attributes, check_arrays, check_parameters
from mklkit.persistence.metadata import (
    FORMAT,
    check_versions,
    checked_metadata,
    json_ready,
    metadata_of_model,
    plugins_for,
    plugins_in,
    targets_of,
    versions,
)
from mklkit.persistence.schema import MODEL_MEMBER, Node, check_nodes, members_of, nodes_in
from mklkit.persistence.trial import check_decisions
from mklkit.persistence.trust import not_trusted, trusted_names, unknown_types
from mklkit.protocols.component import Component

RESERVED = ("format", "versions", "plugins", "model")
# Samples kept for prediction compress little; a fast level is enough for the rest.
COMPRESSION: dict[str, int] = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}
# What skops and the checks raise for an object that can't be saved.
UNFIT = (ModelFileError, TypeError, ValueError, AttributeError, LookupError, RecursionError)
# Attributes where scikit-learn's composite estimators keep pairs of name and estimator.
NAMED_PARTS = ("steps", "transformer_list", "transformers_", "estimators")


def save_model(
    model: Any, path: str | PathLike[str], metadata: dict[str, Any] | None = None
) -> None:
    """Write a fitted model and metadata about it to one file.

    An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    model : estimator
        A fitted estimator of mklkit, or a scikit-learn pipeline around one.
    path : str or path
        The file to write, usually with the extension ``.mkl``.
    metadata : dict, optional
        Plain values (text, numbers, lists, dicts) to store with the model. The keys ``format``,
        ``versions``, ``plugins`` and ``model`` are filled in here.

    Raises
    ------
    ModelFileError
        If it is not a fitted model, holds something that could not be loaded, such as a
        user-defined function or a type that no plugin registers, or the metadata are not plain
        values.
    DataError
        If the file can't be written, or model and path are given in the wrong order.

    See Also
    --------
    load_model : Read the model.
    read_metadata : Read the metadata alone.

    Notes
    -----
    A file holds estimators and components of mklkit and of plugins, and scikit-learn's scalers,
    encoders, imputers, univariate selectors, ``CountVectorizer``, ``TfidfVectorizer``, ``PCA``,
    ``KernelPCA``, ``TruncatedSVD``, linear models and what combines or calibrates such estimators.
    For another step, such as a forest or nearest neighbors, the error names the step and no file is
    written; an existing file stays as it is. Fit such a step again where the model is used, or
    apply it to the data before mklkit.

    Examples
    --------
    >>> import tempfile
    >>> from mklkit import MKLClassifier, load_model, read_metadata
    >>> model = MKLClassifier(["linear", "rbf"]).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.mkl", {"study": "pilot"})
    ...     read_metadata(f"{folder}/model.mkl")["study"]
    ...     load_model(f"{folder}/model.mkl").kernel_names_
    'pilot'
    ['linear', 'rbf']
    """
    if not isinstance(path, str | PathLike):
        raise DataError(
            f"save_model takes the model first, then the path; got {type(path).__name__}"
            " as the path."
        )
    _check_is_model(model)
    taken = sorted(set(metadata or {}) & set(RESERVED))
    if taken:
        raise ModelFileError(f"Facts can't have the reserved names {', '.join(taken)}.")
    archive, nodes = _packed(model)
    try:
        check_decisions(model)
    except Exception as error:
        # A step may raise anything; the file could not be loaded.
        raise ModelFileError(
            f"This model can't be saved: it predicts none of the samples on which models are tried"
            f" ({type(error).__name__}: {plain_message(error)})."
        ) from error
    try:
        filled_in = {
            "format": FORMAT,
            "versions": versions(),
            "plugins": plugins_in(nodes),
            "model": metadata_of_model(model, targets_of(metadata or {})),
        }
        text = json.dumps({**filled_in, **json_ready(metadata or {})}, allow_nan=False)
    except TypeError as error:
        raise ModelFileError(f"The metadata can't be saved: {error}.") from error
    content = _with_facts(archive, text)
    with replacing(Path(path)) as file:
        file.write(content)


def _with_facts(archive: bytes, text: str) -> bytes:
    """Return an archive with the metadata too, not compressed if it would compress too well."""
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        buffer = io.BytesIO(archive)
        with zipfile.ZipFile(buffer, "a", method) as zip_file:
            zip_file.writestr(METADATA_MEMBER, text)
        content = buffer.getvalue()
        if fits(content):
            return content
    raise ModelFileError(f"The metadata can't be saved: {len(text):,} letters are too many.")


def _check_is_model(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            "Expected a fitted estimator to save, one that predicts or transforms, or a pipeline of"
            f" such; got {model!r:.80}."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ModelFileError(f"This {type(model).__name__} is not fitted: fit it first.") from None
    except TypeError as error:
        raise ModelFileError(f"This model can't be saved: {error}") from None


def _packed(model: Any) -> tuple[bytes, list[Node]]:
    """Return a fitted model as a skops archive; reject one that could not be loaded again."""
    archive, nodes, problem = _attempt(model)
    if not problem:
        return archive, nodes
    steps: list[str] = []
    part = model
    parts = _named_parts if _first_problem(part, _named_parts) else _fitted_parts
    while culprit := _first_problem(part, parts):
        name, part, problem = culprit
        steps.append(repr(name))
    where = f" because of its step {' > '.join(steps)} ({type(part).__name__})" if steps else ""
    best = " Save its best_estimator_." if isinstance(model, FittedSearch) else ""
    raise ModelFileError(f"This model can't be saved{where}: {problem}{best}")


def _attempt(model: Any) -> tuple[bytes, list[Node], str]:
    """Return an archive, its nodes and no problem, or the problem."""
    from skops.io import dumps

    try:
        check_parameters(model)
        check_arrays(model)
        archive = dumps(model, **COMPRESSION)
        if not fits(archive):
            # A genuine one may compress too well.
            archive = dumps(model)
        return archive, _checked_nodes(archive), ""
    except UNFIT as error:
        return b"", [], str(error) or type(error).__name__


def _checked_nodes(archive: bytes) -> list[Node]:
    """Return the nodes of a model's archive; raise an error for what could not be loaded."""
    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        nodes = nodes_in(zip_file, len(archive))
        unknown = unknown_types(nodes)
        if unknown:
            raise ModelFileError(not_trusted(unknown))
        check_nodes(nodes, zip_file)
    return nodes


Parts = Iterator[tuple[str, Any]]


def _first_problem(estimator: Any, parts: Callable[[Any], Parts]) -> tuple[str, Any, str] | None:
    """Return the name of the first part that can't be saved, the part and the problem."""
    for name, part in parts(estimator):
        _, _, problem = _attempt(part)
        if problem:
            return name, part, problem
    return None


def _named_parts(estimator: Any) -> Parts:
    """Yield the named estimators inside an estimator."""
    values = attributes(estimator)
    for attribute in NAMED_PARTS:
        for name, part, *_ in values.get(attribute) or ():
            yield name, part
    if "steps" not in values and isinstance(estimator, BaseEstimator):
        for name, part in estimator.get_params(deep=False).items():
            if isinstance(part, BaseEstimator | Component):
                yield name, part


def _fitted_parts(estimator: Any) -> Parts:
    """Yield the fitted copies of estimators, to check if the given ones can be saved."""
    for name, value in attributes(estimator).items():
        several = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1)
        for place, part in enumerate(value if several else [value]):
            # scikit-learn's calibrated pairs are not estimators, but give probabilities.
            if isinstance(part, BaseEstimator) or hasattr(part, "predict_proba"):
                yield f"{name}[{place}]" if several else name, part
    yield from _named_parts(estimator)


def load_model(path: str | PathLike[str]) -> Any:
    """Read a model from a file.

    Nothing in the file is executed or imported, and only types that mklkit, scikit-learn or an
    installed plugin registers are built.

    Parameters
    ----------
    path : str or path
        A file that :func:`save_model` wrote.

    Returns
    -------
    estimator
        The model, which predicts exactly like the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is missing, truncated, empty or of another kind, or holds a type that neither
        mklkit nor an installed plugin registers.

    Warns
    -----
    MKLKitWarning
        If the file was written by another version of mklkit or of a plugin that it uses.

    See Also
    --------
    save_model : Write a model.
    read_metadata : Read the metadata without the model.

    Examples
    --------
    >>> import tempfile
    >>> from mklkit import MKLClassifier, save_model
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    >>> model = MKLClassifier("rbf").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.mkl")
    ...     loaded = load_model(f"{folder}/model.mkl")
    >>> bool((loaded.decision_function(X) == model.decision_function(X)).all())
    True
    """
    from mklkit.registry.registry import get_registry

    # This comes first: a plugin's warning raised as an error (-W error) is not about the file.
    get_registry()
    path = Path(path)
    with opened(path) as zip_file:
        metadata = _metadata_in(path, zip_file)
        nodes = nodes_in(zip_file, path.stat().st_size)
        archive = repacked(path, zip_file, {MODEL_MEMBER, METADATA_MEMBER, *members_of(nodes)})
    check_versions(path, metadata)
    # Any exception of skops or a class on loading means that the file is damaged.
    try:
        unknown = unknown_types(nodes)
        if unknown:
            raise ModelFileError(f"{not_trusted(unknown)}{plugins_for(metadata, unknown)}")
        return _unpacked(archive, nodes)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is not loaded: {error}") from error
    except Exception as error:
        raise damaged(path, error) from error


def _unpacked(archive: bytes, nodes: list[Node]) -> Any:
    """Return the model in an archive whose types are all trusted, after a trial."""
    from skops.io import loads

    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        check_nodes(nodes, zip_file)
    with warnings.catch_warnings():
        # The versions have been compared already; other warnings of libraries here, such as about
        # their own old versions, are not relevant to the file.
        warnings.simplefilter("ignore")
        model = loads(archive, trusted=trusted_names())
    check_parameters(model)
    check_arrays(model)
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"it holds a {type(model).__name__}, not a model.")
    check_decisions(model)
    return model


@contextmanager
def faults_of_file(path: Path) -> Iterator[None]:
    """Turn an unforeseen error of a loaded model into one about its file, which may be altered.

    What loading checks does not include everything that a model may be asked for.
    """
    try:
        yield
    except (MKLKitError, OSError, MemoryError, ImportError):
        raise
    except Exception as error:
        raise ModelFileError(
            f"The model in {path} failed: {type(error).__name__}: {plain_message(error)}. Either"
            " the file was altered after it was saved, and should be saved again, or this is a bug:"
            " please report it with the traceback that MKLKIT_DEBUG=1 shows."
        ) from error


def read_metadata(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the metadata in a model file without loading the model.

    Parameters
    ----------
    path : str or path
        A file that :func:`save_model` wrote.

    Returns
    -------
    dict
        ``format``, ``versions``, ``plugins`` (distribution, version and types of each), ``model``
        (kernels, feature map, combiner, learner, classes, weights) and the metadata given to
        :func:`save_model`.

    Raises
    ------
    ModelFileError
        If the file is missing, truncated, empty or of another kind.

    See Also
    --------
    load_model : Read the model.

    Examples
    --------
    >>> import tempfile
    >>> from mklkit import MKLClassifier, save_model
    >>> model = MKLClassifier("rbf").fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.mkl")
    ...     metadata = read_metadata(f"{folder}/model.mkl")
    >>> metadata["model"]["combiner"]
    'uniform'
    """
    path = Path(path)
    with opened(path) as zip_file:
        return _metadata_in(path, zip_file)


def _metadata_in(path: Path, zip_file: zipfile.ZipFile) -> dict[str, Any]:
    if not {METADATA_MEMBER, MODEL_MEMBER} <= set(zip_file.namelist()):
        raise ModelFileError(f"{path} was not written by mklkit: it has no metadata about a model.")
    metadata = read_json(zip_file, METADATA_MEMBER, path.stat().st_size)
    return checked_metadata(path, json_ready(metadata))
