"""Saving and loading model files.

A file is read in three steps, each of which may refuse it: the facts, the names of the types in
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
from mklkit.paths import status
from mklkit.persistence.atomic import replacing
from mklkit.persistence.facts import facts_of_model, json_ready, versions
from mklkit.persistence.trust import (
    MODEL_MEMBER,
    installed_version,
    listed,
    plugin_records,
    plugins_in,
    refusal,
    registered_types,
    unknown_types,
)

__all__ = ["load_model", "read_facts", "save_model"]

FORMAT = 1
FACTS_MEMBER = "mklkit.json"
RESERVED = ("format", "versions", "plugins", "model")
# Rows kept for prediction compress little; a fast level is enough for the rest.
COMPRESSION: dict[str, int] = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}


def save_model(model: Any, path: str | PathLike[str], facts: dict[str, Any] | None = None) -> None:
    """Write a fitted model and the facts about it to one file.

    The file takes the place of an older one only once it is complete.

    Parameters
    ----------
    model : estimator
        A fitted ``MKLClassifier``, or a scikit-learn pipeline that ends in one.
    path : str or path
        Where to; ``.mkl`` is the customary ending.
    facts : dict, optional
        Plain values (text, numbers, lists, dicts) to keep beside the model. The keys
        ``format``, ``versions``, ``plugins`` and ``model`` are filled in here.

    Raises
    ------
    ModelFileError
        If it is no fitted model, holds something that could not be loaded again, such as a
        function or a type that no plugin registers, or the facts are not plain values.
    DataError
        If the file can't be written, or model and path are given the other way round.
    """
    from skops.io import dumps

    if not isinstance(path, str | PathLike):
        raise DataError(
            f"save_model takes the model, then the path to write it to; got {type(path).__name__}"
            " for a path."
        )

    _check_is_model(model)
    taken = sorted(set(facts or {}) & set(RESERVED))
    if taken:
        raise ModelFileError(f"The facts can't be named {', '.join(taken)}: reserved.")
    try:
        archive = dumps(model, **COMPRESSION)
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"This model can't be saved: {error}") from error
    unknown = unknown_types(archive)
    if unknown:
        best = hasattr(model, "best_estimator_")
        raise ModelFileError(
            f"This model can't be saved, as it could not be loaded again: {listed(unknown)}"
            " registered neither by mklkit nor by a plugin (through mklkit_model_types)."
            f"{' Save its best_estimator_.' if best else ''}"
        )
    try:
        own = {
            "format": FORMAT,
            "versions": versions(),
            "plugins": plugins_in(archive),
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

    if isinstance(model, type) or not callable(getattr(model, "predict", None)):
        raise ModelFileError(
            f"Expected a fitted classifier to save, or a pipeline that ends in one; got"
            f" {model!r:.80}."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ModelFileError(f"This {type(model).__name__} is not fitted: fit it first.") from None
    except TypeError as error:
        raise ModelFileError(f"This model can't be saved: {error}") from None


def load_model(path: str | PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a model and its facts.

    Parameters
    ----------
    path : str or path
        A file that ``save_model`` wrote.

    Returns
    -------
    model : estimator
        Predicts exactly as the one that was saved.
    facts : dict
        As ``read_facts`` returns them.

    Raises
    ------
    ModelFileError
        If the file is missing, truncated, empty or foreign, or holds a type that neither
        mklkit nor an installed plugin registers.

    Warns
    -----
    MKLKitWarning
        If another version of mklkit, or of a plugin in it, wrote the file.
    """
    facts = read_facts(path)
    _compare_versions(Path(path), facts)
    archive = Path(path).read_bytes()
    # Whatever a damaged archive makes skops or a class raise, the file is at fault.
    try:
        unknown = unknown_types(archive)
    except Exception as error:
        raise _damaged(Path(path), error) from error
    if unknown:
        raise ModelFileError(refusal(Path(path), unknown, facts["plugins"]))
    from skops.io import loads

    try:
        model = loads(archive, trusted=sorted(registered_types()))
    except Exception as error:
        raise _damaged(Path(path), error) from error
    if not callable(getattr(model, "predict", None)):
        raise ModelFileError(f"{path} holds no model but a {type(model).__name__}.")
    return model, facts


def read_facts(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the facts in a model file without loading the model.

    Parameters
    ----------
    path : str or path
        A file that ``save_model`` wrote.

    Returns
    -------
    dict
        ``format``, ``versions``, ``plugins`` (distribution, version and types each), ``model``
        (kernels, feature map, combiner, learner, classes, weights) and what was given to
        ``save_model``.

    Raises
    ------
    ModelFileError
        If the file is missing, truncated, empty or foreign.
    DataError
        If the path can't be looked at.
    """
    path = Path(path)
    if status(path) is None:
        raise ModelFileError(f"There is no model file {path}.")
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; a model file is expected.")
    try:
        if path.stat().st_size == 0:
            raise ModelFileError(f"{path} is empty; a model file is expected.")
        with zipfile.ZipFile(path) as zip_file:
            members = set(zip_file.namelist())
            if not {FACTS_MEMBER, MODEL_MEMBER} <= members:
                raise ModelFileError(f"{path} was not written by mklkit: it holds no model of its.")
            facts = json.loads(zip_file.read(FACTS_MEMBER))
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"{path} is not a model file, or was cut short: {error}.") from error
    except ModelFileError:
        raise
    except Exception as error:
        raise _damaged(path, error) from error
    return _checked(path, facts)


def _checked(path: Path, facts: Any) -> dict[str, Any]:
    """Return the facts if they have the shape that the rest of the code relies on."""
    expected = {"format": int, "versions": dict, "plugins": list, "model": dict}
    if not isinstance(facts, dict) or not all(
        isinstance(facts.get(key), kind) for key, kind in expected.items()
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
    for plugin in plugin_records(facts["plugins"]):
        here = installed_version(plugin["distribution"])
        if here is not None and here != plugin["version"]:
            warnings.warn(
                f"{path.name} was written with {plugin['distribution']} {plugin['version']};"
                f" {here} is installed: predictions may differ.",
                MKLKitWarning,
                stacklevel=3,
            )


def _damaged(path: Path, error: BaseException) -> ModelFileError:
    reason = str(error).strip().partition("\n")[0]
    return ModelFileError(f"{path} is damaged: {type(error).__name__}: {reason}")


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])
