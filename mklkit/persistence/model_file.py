"""Saving and loading model files.

A file is read in three steps, each of which may reject it: the facts, the names of the types in
it (see :mod:`mklkit.persistence.trust`), the model.
"""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

from mklkit._version import __version__
from mklkit.errors import DataError, MKLKitWarning, ModelFileError
from mklkit.persistence.archive import (
    FACTS_MEMBER,
    MODEL_MEMBER,
    damaged,
    opened,
    read_member,
    repacked,
)
from mklkit.persistence.atomic import replacing
from mklkit.persistence.contents import check_compiled, check_parameters
from mklkit.persistence.facts import facts_of_model, json_ready, versions
from mklkit.persistence.packing import COMPRESSION, TRIALS, decide_trial, find_trial, packed
from mklkit.persistence.trust import (
    VERSION,
    installed_version,
    plugin_records,
    plugins_in,
    refusal,
    trusted_names,
    unknown_types,
)

__all__ = ["load_model", "read_facts", "save_model"]

FORMAT = 1
RESERVED = ("format", "versions", "plugins", "trial", "model")


def save_model(model: Any, path: str | PathLike[str], facts: dict[str, Any] | None = None) -> None:
    """Write a fitted model and the facts about it to one file.

    An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    model : estimator
        A fitted estimator of mklkit, or a scikit-learn pipeline around one.
    path : str or path
        The file to write, usually with the ending ``.mkl``.
    facts : dict, optional
        Plain values (text, numbers, lists, dicts) to store with the model. The keys
        ``format``, ``versions``, ``plugins``, ``trial`` and ``model`` are filled in here.

    Raises
    ------
    ModelFileError
        If it is not a fitted model, holds something that could not be loaded again, such as a
        function of your own or a type that no plugin registers, or the facts are not plain
        values.
    DataError
        If the file can't be written, or model and path are given in the wrong order.
    """
    if not isinstance(path, str | PathLike):
        raise DataError(
            f"save_model takes the model first, then the path; got {type(path).__name__}"
            " as the path."
        )

    _check_is_model(model)
    taken = sorted(set(facts or {}) & set(RESERVED))
    if taken:
        raise ModelFileError(f"Facts can't have the reserved names {', '.join(taken)}.")
    archive = packed(model)
    try:
        own = {
            "format": FORMAT,
            "versions": versions(),
            "plugins": plugins_in(archive),
            "trial": find_trial(model),
            "model": facts_of_model(model),
        }
        text = json.dumps({**own, **json_ready(facts or {})}, indent=1, allow_nan=False)
    except TypeError as error:
        raise ModelFileError(f"The facts can't be saved: {error}.") from error
    buffer = io.BytesIO(archive)
    with zipfile.ZipFile(buffer, "a", **COMPRESSION) as zip_file:  # type: ignore[call-overload]
        zip_file.writestr(FACTS_MEMBER, text)
    with replacing(Path(path)) as file:
        file.write(buffer.getbuffer())


def _check_is_model(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type) or not _is_model(model):
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


def _is_model(value: Any) -> bool:
    return any(callable(getattr(value, method, None)) for method in ("predict", "transform"))


def load_model(path: str | PathLike[str]) -> Any:
    """Read a model from a file; ``read_facts`` reads the facts stored with it.

    Parameters
    ----------
    path : str or path
        A file that ``save_model`` wrote.

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
    """
    from mklkit.registry.registry import get_registry

    # This comes first: a plugin's warning raised as an error (-W error) says nothing of the file.
    get_registry()
    path = Path(path)
    with opened(path) as zip_file:
        facts = _facts_in(path, zip_file)
        archive = repacked(path, zip_file)
    _compare_versions(path, facts)
    # Any exception of skops or a class on loading means that the file is damaged.
    try:
        unknown = unknown_types(archive)
    except Exception as error:
        raise damaged(path, error) from error
    if unknown:
        raise ModelFileError(refusal(path, unknown, facts["plugins"]))
    try:
        model = _unpacked(archive, facts["trial"])
    except ModelFileError as error:
        raise ModelFileError(f"{path} is not loaded: {error}") from error
    except Exception as error:
        if "allow_pickle" in str(error):
            # NumPy's message advises an option that would execute code in the file.
            raise ModelFileError(
                f"{path} is damaged: it holds an array of Python objects, which are never loaded."
            ) from error
        raise damaged(path, error) from error
    if not _is_model(model):
        raise ModelFileError(f"{path} holds a {type(model).__name__}, not a model.")
    return model


def _unpacked(archive: bytes, trial: str | None) -> Any:
    """Return the model in an archive whose types are all trusted, after a trial."""
    from skops.io import loads

    with warnings.catch_warnings():
        # The versions have been compared already; other warnings of libraries here, such as about
        # their own old versions, are not relevant to the file.
        warnings.simplefilter("ignore")
        model = loads(archive, trusted=trusted_names())
    check_parameters(model)
    check_compiled(model)
    if trial is not None:
        decide_trial(model, trial)
    return model


def read_facts(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the facts in a model file without loading the model.

    Parameters
    ----------
    path : str or path
        A file that ``save_model`` wrote.

    Returns
    -------
    dict
        ``format``, ``versions``, ``plugins`` (distribution, version and types of each), ``model``
        (kernels, feature map, combiner, learner, classes, weights) and the facts given to
        ``save_model``.

    Raises
    ------
    ModelFileError
        If the file is missing, truncated, empty or of another kind.
    """
    path = Path(path)
    with opened(path) as zip_file:
        return _facts_in(path, zip_file)


def _facts_in(path: Path, zip_file: zipfile.ZipFile) -> dict[str, Any]:
    if not {FACTS_MEMBER, MODEL_MEMBER} <= set(zip_file.namelist()):
        raise ModelFileError(f"{path} was not written by mklkit: it has no facts about a model.")
    return _checked(path, json_ready(json.loads(read_member(zip_file, FACTS_MEMBER))))


def _checked(path: Path, facts: Any) -> dict[str, Any]:
    """Return the facts if they have the shape that the rest of the code relies on."""
    expected = {"format": int, "versions": dict, "plugins": list, "model": dict}
    if (
        not isinstance(facts, dict)
        or not all(isinstance(facts.get(key), kind) for key, kind in expected.items())
        or not all(
            isinstance(text, str) and re.fullmatch(VERSION, text, re.ASCII)
            for text in facts["versions"].values()
        )
        or facts.get("trial", "") not in (None, *TRIALS)
    ):
        raise ModelFileError(f"{path} is damaged: the facts in it are not those of a model file.")
    if facts["format"] > FORMAT:
        raise ModelFileError(
            f"{path} was written by mklkit {facts['versions'].get('mklkit')} in a newer format"
            f" than mklkit {__version__} reads: upgrade mklkit."
        )
    return facts


def _compare_versions(path: Path, facts: dict[str, Any]) -> None:
    theirs = str(facts["versions"].get("mklkit"))
    if theirs != __version__:
        age = "a newer" if _release(theirs) > _release(__version__) else "an older"
        warnings.warn(
            f"{path.name} was written by mklkit {theirs}, {age} version than this one"
            f" ({__version__}): predictions may differ.",
            MKLKitWarning,
            stacklevel=3,
        )
    others = {"scikit-learn": facts["versions"].get("scikit-learn")}
    for plugin in plugin_records(facts["plugins"]):
        others[plugin["distribution"]] = plugin["version"]
    for distribution, version in others.items():
        here = installed_version(distribution)
        if here is not None and here != version:
            warnings.warn(
                f"{path.name} was written with {distribution} {version};"
                f" {here} is installed: predictions may differ.",
                MKLKitWarning,
                stacklevel=3,
            )


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d{1,9}", text)[:3])
