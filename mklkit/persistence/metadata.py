"""The metadata stored with a model: plain values that JSON can represent."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from mklkit._version import __version__
from mklkit.datasets.pipeline import encoder_in
from mklkit.errors import IncompatibleError, MKLKitWarning, ModelFileError
from mklkit.estimators.base import FittedKernels
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.introspection import KernelModel, classifier_in, column_names
from mklkit.estimators.task_of import task_of
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.persistence.schema import Node, full_name
from mklkit.registry.specs import kernel_spec, to_spec

FORMAT = 1
VERSIONS_KEPT = ("scikit-learn", "skops", "numpy")
VERSION = r"[\w.+!-]{0,80}"
DEEPEST = 50


def json_ready(value: Any, levels: int = DEEPEST) -> Any:
    """Return a value as plain dicts, lists, text and numbers.

    Parameters
    ----------
    value : object
        Made of mappings, sequences, arrays, text, numbers, booleans and None. Labels keep their
        type as values; the keys of a mapping become text.
    levels : int, default=50
        The maximum nesting depth of mappings and sequences.

    Returns
    -------
    object
        Numbers that are not finite, which JSON can't represent, become None.

    Raises
    ------
    TypeError
        If it contains anything else, or is nested deeper.

    Examples
    --------
    >>> json_ready({"classes": np.array([True, False]), "weight": np.float64("nan")})
    {'classes': [True, False], 'weight': None}
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if levels == 0:
        raise TypeError(f"metadata nested more than {DEEPEST} deep can't be stored")
    if isinstance(value, Mapping):
        return {str(key): json_ready(item, levels - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(item, levels - 1) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        plain = value.astype(str) if value.dtype.kind in "mM" else value
        return json_ready(plain.tolist(), levels)
    raise TypeError(f"{value!r:.80} of type {type(value).__name__} can't be stored as a fact")


def targets_of(metadata: dict[str, Any]) -> list[str]:
    """Return the names of the targets in a model file; none if it has none."""
    data = metadata.get("data")
    names = data.get("targets") if isinstance(data, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def metadata_of_model(model: Any, targets: Sequence[str] = ()) -> dict[str, Any]:
    """Return a description of the fitted estimator at the end of a model.

    ``targets`` are the names of its targets' columns, if they are known: estimators often get
    arrays without names.

    That of an estimator of mklkit has ``input`` (how a ``TableEncoder`` treated each column),
    ``kernels`` (their columns are names, positions if the data had none, or None for all),
    components, ``weights``, ``rows`` (how many it learned from), ``groups`` (how many these
    form, None without groups), ``chosen`` (the values of rules), and for classifiers
    ``multiclass`` (``binary``, ``ovo``, ``ovr`` or ``native``) and ``class_weight`` (None if all
    are 1); others have few of these.
    """
    classifier = classifier_in(model)
    metadata: dict[str, Any] = {}
    encoder = encoder_in(model)
    if encoder is not None:
        metadata["input"] = json_ready(encoder.columns())
    if is_classifier(classifier):
        metadata["classes"] = json_ready(np.asarray(classifier.classes_))
        metadata["probability"] = hasattr(classifier, "predict_proba")
    if isinstance(classifier, KernelModel):
        metadata["kernels"] = _kernels(classifier)
        metadata["feature_map"] = to_spec(classifier.feature_map_)
        metadata["combiner"] = to_spec(classifier.combiner_)
        if classifier.learner_ is not None:
            metadata["learner"] = to_spec(classifier.learner_)
    if isinstance(classifier, MKLClassifier | MKLVotingClassifier):
        weights = np.asarray(classifier.class_weight_)
        metadata["class_weight"] = None if (weights == 1).all() else json_ready(weights)
        metadata["multiclass"] = _strategy(classifier.problems_, len(classifier.classes_))
    with suppress(IncompatibleError):  # A transformer has no task.
        task = task_of(model)
        names = targets if len(targets) == len(task.targets) else task.targets
        metadata |= {"task": task.name, "learns": task.plural, "targets": list(names)}
    if isinstance(classifier, MKLVotingClassifier):
        metadata["members"] = len(classifier.members_)
    if isinstance(classifier, FittedKernels):
        metadata["weights"] = json_ready(classifier.weights_frame().to_dict("records"))
        metadata["rows"] = classifier.n_samples_fit_
        metadata["groups"] = classifier.n_groups_fit_
        metadata["chosen"] = json_ready(classifier.chosen_)
    return metadata


def _kernels(classifier: KernelModel) -> list[dict[str, Any]]:
    every = column_names(classifier)
    return [
        {
            "name": bound.label,
            "spec": kernel_spec(bound, full=True),
            "columns": None if bound.columns is None else json_ready(every[bound.columns]),
        }
        for bound in classifier.bound_kernels_
    ]


def _strategy(problems: list[tuple[Any, Any]], n_classes: int) -> str:
    """Return the multiclass strategy that was used, deduced from the problems."""
    if n_classes == 2:
        return "binary"
    if len(problems) == 1:
        return "native"
    # Labels may be anything, so only their number and repetitions decide.
    return "ovr" if len({str(negative) for negative, _ in problems}) == 1 else "ovo"


def versions() -> dict[str, str]:
    """Return the versions that a model's numbers may depend on."""
    kept = {name: version(name) for name in VERSIONS_KEPT}
    return {"mklkit": __version__, "python": python_version(), **kept}


def plugins_in(nodes: list[Node]) -> list[dict[str, Any]]:
    """Return the plugins whose types a model holds: distribution, version and types."""
    from mklkit.registry.registry import get_registry

    types: dict[str, set[str]] = {}
    for name in map(full_name, nodes):
        distribution = get_registry().distribution_of(name)
        if distribution not in (None, "mklkit"):
            types.setdefault(str(distribution), set()).add(name)
    return [
        {
            "distribution": distribution,
            "version": _installed_version(distribution) or "",
            "types": sorted(names),
        }
        for distribution, names in sorted(types.items())
    ]


def checked_metadata(path: Path, metadata: Any) -> dict[str, Any]:
    """Return the metadata in a file if they have the shape that the rest of the code relies on."""
    expected = {"format": int, "versions": dict, "plugins": list, "model": dict}
    if (
        not isinstance(metadata, dict)
        or not all(isinstance(metadata.get(key), kind) for key, kind in expected.items())
        or not all(map(_is_version, metadata["versions"].values()))
    ):
        raise ModelFileError(
            f"{path} is damaged: the metadata in it are not those of a model file."
        )
    if metadata["format"] > FORMAT:
        raise ModelFileError(
            f"{path} was written by mklkit {metadata['versions'].get('mklkit')} in a newer format"
            f" than mklkit {__version__} reads: upgrade mklkit."
        )
    return metadata


def _is_version(text: Any) -> bool:
    return isinstance(text, str) and re.fullmatch(VERSION, text, re.ASCII) is not None


def check_versions(path: Path, metadata: dict[str, Any]) -> None:
    """Warn if a file was written by another version of mklkit, scikit-learn or a plugin."""
    written = {name: metadata["versions"].get(name) for name in ("mklkit", "scikit-learn")}
    written |= {plugin["distribution"]: plugin["version"] for plugin in _plugins(metadata)}
    for distribution, then in written.items():
        here = __version__ if distribution == "mklkit" else _installed_version(distribution)
        if here is not None and here != then:
            warnings.warn(
                f"{path.name} was written with {distribution} {then};"
                f" {here} is installed: predictions may differ.",
                MKLKitWarning,
                stacklevel=3,
            )


def plugins_for(metadata: dict[str, Any], types: list[str]) -> str:
    """Return a sentence on the plugins that a file states to need; empty if it states none."""
    homes = {
        name: plugin["distribution"] for plugin in _plugins(metadata) for name in plugin["types"]
    }
    needed = dict.fromkeys(homes[name] for name in types if name in homes)
    if not needed:
        return ""
    return (
        f" The file states that it needs the plugin {', '.join(needed)}: install it if you trust it"
        " (and leave MKLKIT_DISABLE_PLUGINS unset)."
    )


def _plugins(metadata: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the well-formed records, as a file may state anything about itself."""
    for plugin in metadata["plugins"]:
        if (
            isinstance(plugin, dict)
            and re.fullmatch(r"[\w.-]{1,80}", str(plugin.get("distribution", "")), re.ASCII)
            and _is_version(plugin.get("version", ""))
            and isinstance(plugin.get("types"), list)
        ):
            yield {"version": "", **plugin, "types": [str(name) for name in plugin["types"]]}


def _installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None if it has no readable version."""
    with suppress(Exception):  # Its metadata may be damaged in any way.
        return version(distribution)
    return None
