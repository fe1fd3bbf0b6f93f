"""Whole systems by name: from a preset to a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mklkit.errors import SpecError, quoted, suggest
from mklkit.estimators.base import COMPONENT_KINDS
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.model_settings import Effort, check_effort
from mklkit.estimators.search import MKLSearchCV
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.protocols.component import KERNELS, Preset
from mklkit.registry.registry import get_registry


def preset_classifier(
    preset: str | Preset,
    *,
    tune: Effort | None = None,
    scoring: Any = None,
    random_state: Any = None,
    **settings: Any,
) -> MKLClassifier | MKLSearchCV | MKLVotingClassifier:
    """Return the classifier of a preset, not fitted.

    Parameters
    ----------
    preset : str or Preset
        A name that ``mklkit list presets`` shows, or a preset itself.
    tune : {"fast", "thorough"} or int, optional
        How long to search for parameters by cross-validation, as ``effort`` of
        :class:`MKLSearchCV`; by default there is no search.
    scoring : str or callable, optional
        The score that chooses the parameters, as for :class:`MKLSearchCV`.
    random_state : int, RandomState or None, default=None
        The seed of everything random.
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
        invalid.

    See Also
    --------
    preset_pipeline : The same with the steps before it.

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
    chosen = find_preset(preset)
    changed = {name: value for name, value in settings.items() if value is not None}
    known = MKLClassifier().get_params(deep=False)
    for name in changed.keys() - known.keys():
        hint = suggest(name, known)
        raise SpecError(f"MKLClassifier has no parameter {quoted(name)}.{hint}")
    if random_state is not None:
        changed["random_state"] = random_state
    return cast(
        MKLClassifier | MKLSearchCV | MKLVotingClassifier,
        preset_model(chosen, MKLClassifier, tune, scoring, changed),
    )


def preset_model(
    preset: Preset, estimator: Any, tune: Effort | None, scoring: Any, parameters: Mapping[str, Any]
) -> Any:
    """Return an estimator with a preset's parts, which some parameters override, unfitted.

    If it is tuned, it is in a search, and if the preset has several members, in a vote.
    """
    model = estimator(**{**parameters, **preset_parts(preset, parameters)})
    if tune is not None:
        model = MKLSearchCV(model, effort=check_effort(tune), scoring=scoring)
    if preset.members > 1:
        model = MKLVotingClassifier(
            model, n_members=preset.members, random_state=parameters.get("random_state")
        )
    return model


def preset_parts(preset: Preset, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return kernels, combiner, feature map and learner, from the settings or else the preset.

    One with components of its own has the usual kernels if it names none: none are chosen.
    """
    parts = {name: getattr(preset, name) for name in ("kernels", *COMPONENT_KINDS)}
    usual = default_preset()
    if preset.kernels is not None:
        parts["kernels"] = list(preset.kernels)
    elif any(parts[name] != getattr(usual, name) for name in COMPONENT_KINDS):
        parts["kernels"] = list(KERNELS)
    return parts | {name: settings[name] for name in parts if settings.get(name) is not None}


def find_preset(preset: Any) -> Preset:
    """Return the preset of a name; a preset is returned unchanged."""
    if isinstance(preset, Preset):
        return preset
    if not isinstance(preset, str):
        raise SpecError(
            "Expected the name of a preset (see `mklkit list presets`) or a Preset;"
            f" got {quoted(preset)}."
        )
    named: Preset = get_registry().lookup("preset", preset).target
    return named


def default_preset() -> Preset:
    """Return the defaults of :class:`MKLClassifier` as a preset."""
    return Preset("default", "The defaults.", MKLClassifier().combiner)
