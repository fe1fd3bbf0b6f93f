"""Whole systems by name: from a preset to a classifier."""

from __future__ import annotations

from typing import Any

from mklkit.combiners.ifsl.combiner import IFSL
from mklkit.errors import SpecError, quoted, suggest
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.ifsl_search import IFSLClassifierCV
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.protocols.preset import Preset
from mklkit.registry.registry import get_registry

__all__ = ["find_preset", "preset_classifier"]


def preset_classifier(
    preset: str | Preset, *, tune: bool = False, random_state: Any = None, **settings: Any
) -> MKLClassifier | IFSLClassifierCV | MKLVotingClassifier:
    """Return the classifier that a preset stands for, not fitted.

    Parameters
    ----------
    preset : str or Preset
        A name that ``mklkit list presets`` shows, or a preset itself.
    tune : bool, default=False
        Whether ridge and λ are chosen by cross-validation, which coupled learners can do.
    random_state : int, RandomState or None, default=None
    **settings
        Parameters of :class:`MKLClassifier`, in place of the preset's.

    Returns
    -------
    MKLClassifier, IFSLClassifierCV or MKLVotingClassifier
        The last one where the preset has several members. It does not scale features, which
        :func:`mklkit.preset_pipeline` does as the preset assumes.

    Raises
    ------
    UnknownNameError
        If no preset has that name.
    SpecError
        If ``preset`` is neither, a setting is no parameter of the classifier, or ``tune`` is asked
        of a combiner other than ``ifsl``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(MinMaxScaler((-1, 1)), preset_classifier("paper-dimkl1"))
    >>> bool(model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.95)
    True
    """
    found = find_preset(preset)
    given = {name: value for name, value in settings.items() if value is not None}
    estimator = IFSLClassifierCV if tune else MKLClassifier
    known = estimator().get_params(deep=False)
    for name in given.keys() - known.keys():
        hint = suggest(name, known)
        raise SpecError(f"{estimator.__name__} has no parameter {quoted(name)}.{hint}")
    own = {
        "kernels": None if found.kernels is None else list(found.kernels),
        "feature_map": found.feature_map,
        "combiner": found.combiner,
        "learner": found.learner,
    }
    if tune:
        _refuse_unless_coupled(given.get("combiner", found.combiner))
    classifier = estimator(**{**own, **given}, random_state=random_state)
    if found.members == 1:
        return classifier
    return MKLVotingClassifier(classifier, n_members=found.members, random_state=random_state)


def find_preset(preset: Any) -> Preset:
    """Return the preset of a name; a preset itself is passed through."""
    if isinstance(preset, Preset):
        return preset
    if not isinstance(preset, str):
        raise SpecError(
            "Expected a preset's name, as `mklkit list presets` shows them, or a Preset;"
            f" got {quoted(preset)}."
        )
    found: Preset = get_registry().lookup("preset", preset).target
    return found


def _refuse_unless_coupled(combiner: Any) -> None:
    registry = get_registry()
    chosen = registry.create("combiner", combiner)
    if isinstance(chosen, IFSL):
        return
    presets = [entry.target for entry in registry.entries("preset")]
    tunable = [one.name for one in presets if one.combiner.partition("(")[0] == IFSL.name]
    raise SpecError(
        f"IFSLClassifierCV searches c and lam of combiner {IFSL.name!r}, so only its presets can be"
        f" tuned: {', '.join(tunable)}; got combiner {chosen.name!r}."
        " Use scikit-learn's GridSearchCV over MKLClassifier for others."
    )
