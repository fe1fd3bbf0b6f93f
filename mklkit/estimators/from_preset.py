"""Whole systems by name: from a preset to a classifier."""

from __future__ import annotations

from typing import Any, cast

from mklkit.errors import SpecError, quoted, suggest
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.protocols import GridCombiner
from mklkit.protocols.preset import Preset
from mklkit.registry.registry import get_registry

__all__ = ["find_preset", "preset_classifier"]


def preset_classifier(
    preset: str | Preset, *, tune: bool = False, random_state: Any = None, **settings: Any
) -> MKLClassifier | MKLSearchCV | MKLVotingClassifier:
    """Return the classifier of a preset, not fitted.

    Parameters
    ----------
    preset : str or Preset
        A name that ``mklkit list presets`` shows, or a preset itself.
    tune : bool, default=False
        Whether parameters are chosen by cross-validation, from the combiner's own search space.
    random_state : int, RandomState or None, default=None
    **settings
        Parameters of :class:`MKLClassifier`, which override the preset's.

    Returns
    -------
    MKLClassifier, MKLSearchCV or MKLVotingClassifier
        The last for presets with several members. None of them scales features;
        :func:`mklkit.preset_pipeline` does, as the preset requires.

    Raises
    ------
    UnknownNameError
        If no preset has that name.
    SpecError
        If ``preset`` is neither, a setting is not a parameter of the classifier, or ``tune`` is
        True for a combiner that can't fit a whole grid at once.

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
    known = MKLClassifier().get_params(deep=False)
    for name in given.keys() - known.keys():
        hint = suggest(name, known)
        raise SpecError(f"MKLClassifier has no parameter {quoted(name)}.{hint}")
    own = {
        "kernels": None if found.kernels is None else list(found.kernels),
        "feature_map": found.feature_map,
        "combiner": found.combiner,
        "learner": found.learner,
    }
    classifier: Any = MKLClassifier(**{**own, **given}, random_state=random_state)
    if tune:
        _refuse_unless_searchable(classifier.combiner)
        classifier = MKLSearchCV(classifier)
    if found.members > 1:
        classifier = MKLVotingClassifier(
            classifier, n_members=found.members, random_state=random_state
        )
    return cast(MKLClassifier | MKLSearchCV | MKLVotingClassifier, classifier)


def find_preset(preset: Any) -> Preset:
    """Return the preset of a name; a preset is returned unchanged."""
    if isinstance(preset, Preset):
        return preset
    if not isinstance(preset, str):
        raise SpecError(
            "Expected the name of a preset (see `mklkit list presets`) or a Preset;"
            f" got {quoted(preset)}."
        )
    found: Preset = get_registry().lookup("preset", preset).target
    return found


def _refuse_unless_searchable(combiner: Any) -> None:
    registry = get_registry()
    chosen = registry.create("combiner", combiner)
    if isinstance(chosen, GridCombiner):
        return
    combiners = [entry for entry in registry.entries("combiner") if _fits_grids(entry.target)]
    names = {entry.name for entry in combiners}
    presets = [entry.target for entry in registry.entries("preset")]
    tunable = [one.name for one in presets if one.combiner.partition("(")[0] in names]
    raise SpecError(
        f"Tuning needs a combiner that fits a whole grid at once ({', '.join(sorted(names))}), so"
        f" only these presets can be tuned: {', '.join(tunable)}; got combiner {chosen.name!r}."
        " Use scikit-learn's GridSearchCV over MKLClassifier for others."
    )


def _fits_grids(target: Any) -> bool:
    return isinstance(target, type) and issubclass(target, GridCombiner)
