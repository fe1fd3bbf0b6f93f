"""The methods of a comparison, from names, globs, spec strings and estimators."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import attrs
import joblib
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from mklkit._version import __version__
from mklkit.comparison.data import in_unicode
from mklkit.comparison.design import Design
from mklkit.datasets.pipeline import DEFAULT_SCALE, build_pipeline, model_pipeline
from mklkit.errors import IncompatibleError, SpecError, UnknownNameError, quoted, suggest
from mklkit.estimators.from_preset import find_preset, preset_parts
from mklkit.protocols import CombinerTraits, traits_of
from mklkit.protocols.component import MISSING_STRATEGY, Preset
from mklkit.registry.columns import AUTO_KERNELS, are_proposed, bind_kernels
from mklkit.registry.composing import choose_components
from mklkit.registry.entries import Kind
from mklkit.registry.registry import get_registry
from mklkit.registry.specs import to_spec
from mklkit.views.scaling import scaling_named

METHOD, ONE_KERNEL, CLASSIFIER, BASELINE = "method", "one kernel", "classifier", "baseline"
GLOB = frozenset("*?[")


@attrs.frozen(eq=False)
class Method:
    """One row of a comparison, with its unfitted pipeline.

    Its kind is ``METHOD`` (of several kernels), ``ONE_KERNEL`` (also if it is chosen among
    several), ``CLASSIFIER`` (a given one) or ``BASELINE`` (always compared). Besides data, seed
    and tuning, results depend only on ``spec`` and ``version``: the parts, and the package of the
    method. Methods of kernels have a ``combiner`` and a ``learner``.
    """

    name: str = attrs.field(converter=in_unicode)
    kind: str
    pipeline: Pipeline
    spec: str
    version: str
    combiner: str = ""
    learner: str = ""
    weights_are: str = ""
    """As the combiner's facts state it."""

    def __repr__(self) -> str:
        """Return one line, without the pipeline."""
        return f"Method({self.name!r}, {self.kind})"

    def is_learned_as(self, even: Method) -> bool:
        """Return whether it is the average kernel but for its weights, which are learned."""
        same = self.spec == even.spec.replace(even.combiner, self.combiner, 1)
        return same and self.weights_are == "learned"

    def metadata(self) -> dict[str, str]:
        """Return plain values that identify the method."""
        return {"name": self.name, "kind": self.kind, "spec": self.spec, "version": self.version}

    def in_runs(self) -> dict[str, Any]:
        """Return the fields that each run has on its method."""
        return {"method": self.name, "kind": self.kind, "learner": self.learner}


def preset_method(design: Design, preset: Preset, name: str, kind: str, **changes: Any) -> Method:
    """Return the method of a preset, with some of the design's settings changed."""
    settings = attrs.evolve(design.settings, preset=preset, **changes)
    if settings.kernels is None and preset.kernels is None:
        # All methods combine the same kernels.
        settings = attrs.evolve(settings, kernels=list(design.usual_kernels))
    parts = preset_parts(preset, settings.parameters())
    chosen = choose_components(
        parts["combiner"], parts["feature_map"], parts["learner"], target=design.task.kinds[0]
    )
    missing = settings.missing or [*design.strategies, MISSING_STRATEGY][0]
    settings = attrs.evolve(settings, missing=missing)
    pipeline = model_pipeline(settings, design.task, design.scoring)
    weights_are = traits_of(chosen.combiner, CombinerTraits).weights_are
    if weights_are == "choice":
        kind = ONE_KERNEL
    described = {
        "combiner": _text(chosen.combiner),
        "kernels": ", ".join(_kernel_texts(parts["kernels"])),
        "feature_map": _text(chosen.feature_map),
        "learner": _text(chosen.learner),
        "members": preset.members if preset.members > 1 else None,
        "scale": settings.scale or preset.scale or DEFAULT_SCALE,
        "missing": None
        if missing == MISSING_STRATEGY or kind == ONE_KERNEL
        else _spec_text(missing),
    }
    spec = _spec_of({**settings.changed("steps", "estimator"), **described})
    version = _version_of(chosen.combiner)
    learner = to_spec(chosen.learner)
    if are_proposed(parts["kernels"]) and pipeline[-1].learner is None:
        learner = "chosen"  # Together with the kernels.
    return Method(
        name, kind, pipeline, spec, version, str(described["combiner"]), learner, weights_are
    )


def estimator_method(design: Design, estimator: Any, name: str, kind: str, version: str) -> Method:
    """Return the method of a scikit-learn estimator, on the same encoded, scaled features."""
    steps = {"scale": DEFAULT_SCALE, **design.settings.changed("steps")}
    if scaling_named(steps["scale"]).amounts:
        steps["scale"] = DEFAULT_SCALE  # Only kernels know which columns are amounts.
    jobs = [key for key in estimator.get_params() if key.rpartition("__")[2] == "n_jobs"]
    plain = clone(estimator).set_params(**dict.fromkeys(jobs))
    # The repr of a classifier may leave out parts.
    text = f"{' '.join(str(plain).split())} #{joblib.hash(plain)[:8]}"
    return Method(
        name, kind, build_pipeline(estimator, **steps), f"{text}; {_spec_of(steps)}", version
    )


def _spec_of(settings: Mapping[str, Any]) -> str:
    """Return the settings that identify a method, in one line."""
    known = {name.replace("_", " "): value for name, value in settings.items() if value is not None}
    return "; ".join(f"{name}: {value}" for name, value in known.items())


def method_label(design: Design, name: str, learner: Any, strategy: Any = None) -> str:
    """Return a method's name, with learner and strategy if there are several."""
    name = f"{name} + {_spec_text(learner)}" if len(design.learners) > 1 else name
    return f"{name}, {_spec_text(strategy)}" if strategy and len(design.strategies) > 1 else name


def make_methods(
    requests: Sequence[Any], presets: Sequence[Preset], design: Design
) -> tuple[list[Method], list[str]]:
    """Return the requested methods, and notes on those that were omitted.

    Requests are combiners (names, globs such as ``"dimkl*"``, spec strings, objects) and pairs of
    a name and a scikit-learn classifier.
    """
    methods: list[Method] = []
    notes: list[str] = []
    for learner in design.learners:
        get_registry().create("learner", learner)
    for missing in design.strategies:
        get_registry().create("missing", missing)
    for request in requests:
        if isinstance(request, tuple):
            methods.append(_of_estimator(request, design))
        else:
            methods += _of_combiner(request, design, notes)
    for preset in presets:
        learner = design.learners[0] if len(design.learners) == 1 else None
        methods.append(preset_method(design, preset, preset.name, METHOD, learner=learner))
    return methods, notes


def unique_names(methods: Sequence[Method]) -> tuple[list[Method], list[str]]:
    """Return the methods without duplicates, with numbers after repeated names, and notes."""
    kept: dict[str, Method] = {}
    names: dict[str, str] = {}
    notes = []
    for method in methods:
        if method.spec in names:
            if (same := names[method.spec]) != method.name:
                notes.append(f"{method.name} omitted: it is the same as {same}")
            continue
        name = names[method.spec] = method.name
        count = 1
        while name in kept:
            count += 1
            name = f"{method.name} #{count}"
        kept[name] = attrs.evolve(method, name=name)
    return list(kept.values()), notes


def _of_combiner(request: Any, design: Design, notes: list[str]) -> list[Method]:
    """Return the methods of one combiner or glob, with each learner that it works with."""
    specs = _matching("combiner", request)
    is_glob = specs != [request]
    methods = []
    errors = []
    for spec in specs:
        for learner, missing in product(design.learners or (None,), design.strategies or (None,)):
            name = _spec_text(spec)
            label = method_label(design, name, learner, missing)
            try:
                _check(spec, learner, design)
                preset = Preset(name, "", spec)
                parts = {"learner": learner, "missing": missing}
                methods.append(preset_method(design, preset, label, METHOD, **parts))
            except IncompatibleError as error:
                errors.append(error)
                notes.append(f"{label} omitted: {error}")
    if not is_glob and not methods:
        raise errors[0]
    return methods


def _check(spec: Any, learner: Any, design: Design) -> None:
    """Raise an error for combinations that are known not to work before a fit."""
    target = design.task.kinds[0]
    combiner = choose_components(spec, design.settings.feature_map, learner, target=target).combiner
    number = traits_of(combiner, CombinerTraits).n_kernels
    kernels = design.kernels
    if number is None or are_proposed(kernels):  # Their number is known only in a fit.
        return
    n_kernels = len(kernels)
    if number != n_kernels:
        raise IncompatibleError(f"{combiner.name} takes {number} kernels, not {n_kernels}.")


def _matching(kind: Kind, request: Any) -> list[Any]:
    """Return the registered names that match a glob, else the request itself."""
    if not isinstance(request, str) or not GLOB & set(request.partition("(")[0]):
        return [request]
    known = list(dict.fromkeys(entry.name for entry in get_registry().entries(kind)))
    names = fnmatch.filter(known, request.strip())
    if not names:
        raise UnknownNameError(
            f"No {kind} matches {quoted(request)}.{suggest(request.strip('*?[]'), known)}"
            f" Known: {', '.join(known)}.",
            request,
        )
    return names


def presets_of(requests: Sequence[Any]) -> list[Preset]:
    """Return the presets of names, of globs of names, and presets themselves."""
    return [find_preset(name) for part in requests for name in _matching("preset", part)]


def _of_estimator(pair: tuple[Any, ...], design: Design) -> Method:
    name, estimator = pair if len(pair) == 2 else (None, None)
    task = design.task
    fits = isinstance(estimator, BaseEstimator) and task.fits(estimator)
    if not (isinstance(name, str) and fits):
        raise SpecError(f"Expected (name, scikit-learn {task.estimator_noun}), got {quoted(pair)}.")
    return estimator_method(design, estimator, name, CLASSIFIER, type(estimator).__module__)


def _text(component: Any) -> str:
    """Return a component's spec string with all its parameters."""
    text = to_spec(component, full=True)
    # Arrays inside a component are shown only by their shape or their file.
    alone = "<array" in text or "path=" in text
    return f"{text} #{joblib.hash(component)[:8]}" if alone else text


def _kernel_texts(kernels: Any) -> list[str]:
    texts = []
    for bound in bind_kernels(kernels):
        columns = "" if bound.columns is None else f"@{bound.columns}"
        scale = "" if bound.scale is None else f"[{bound.scale}]"
        kernel = AUTO_KERNELS if bound.auto else f"{_text(bound.kernel)}{scale}"
        is_named = bound.label != f"{AUTO_KERNELS}{columns}"
        texts.append(f"{f'{bound.label}:' if is_named else ''}{kernel}{columns}")
    return texts


def _spec_text(component: Any) -> str:
    return component.strip() if isinstance(component, str) else to_spec(component)


def _version_of(combiner: Any) -> str:
    for entry in get_registry().entries("combiner"):
        if entry.name == combiner.name:
            return f"{entry.distribution} {entry.version}"
    return f"mklkit {__version__}"
