"""The steps before the classifier, and their description in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mklkit.datasets.covariates import CovariateRemoval
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.selecting import chosen_columns
from mklkit.errors import IncompatibleError, SpecError, listed
from mklkit.estimators.base import FittedKernels, KernelEstimator
from mklkit.estimators.declaring import declared_sources, missable
from mklkit.estimators.from_preset import (
    default_preset,
    find_preset,
    preset_classifier,
    preset_model,
)
from mklkit.estimators.introspection import KernelModel, classifier_in, column_names, split
from mklkit.estimators.model_settings import ModelSettings
from mklkit.numerics.sparse import count_gaps, without_values
from mklkit.protocols import Column, Schema, Source, Task
from mklkit.protocols.component import TASK, Preset
from mklkit.registry.columns import bind_kernels
from mklkit.registry.tasks import task_named
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.scaling import SCALINGS, scale_of, scaling_named, scaling_with

DEFAULT_SCALE = "standard"


def build_pipeline(
    classifier: Any,
    scale: str = DEFAULT_SCALE,
    max_categories: int = 100,
    covariates: Any = None,
    missing_value: Any = None,
    schema: Schema | None = None,
) -> Pipeline:
    """Put the preprocessing steps before a classifier.

    Parameters
    ----------
    classifier : estimator
        A scikit-learn classifier on numbers, such as ``MKLClassifier()``.
    scale : str, default="standard"
        What is done to columns of numbers: ``"standard"`` (mean 0, standard deviation 1),
        ``"minmax"`` (to [-1, 1], as Price et al. 2022 do), ``"none"``, and others as for
        :class:`mklkit.MKLClassifier`, which does it for kernels that do not say; other estimators
        get a step of scikit-learn for it.
    max_categories : int, default=100
        The maximum of one-hot columns per text column; its rarest values share one.
    covariates : str or sequence, optional
        Columns to remove from all others, as :class:`mklkit.datasets.CovariateRemoval` does.
    missing_value : str or float, optional
        A value that marks a missing one, such as ``-9``.
    schema : Schema, optional
        What is known of the columns, as in ``load_table(...).schema``; by default ``fit`` decides
        from the rows that it sees, which on a fold may be other than on all rows.

    Returns
    -------
    sklearn.pipeline.Pipeline
        With the steps ``encode``, ``covariates`` (if any), ``scale`` (before estimators that do not
        scale) and ``classify``; each passes on a DataFrame with readable column names, so that
        kernels can choose columns by name.

    Raises
    ------
    SpecError
        If ``scale`` is another word.

    See Also
    --------
    preset_pipeline : The same steps before a preset's classifier.
    TableEncoder : The first step.

    Notes
    -----
    Columns that kernels of the classifier read as amounts, text, categories or row ids are passed
    on unchanged: they are not dropped as identifiers or one-hot encoded. If kernels are chosen by
    the classifier (and no covariates removed), so are text, and categories in addition to their
    one-hot columns. Rows that lack all columns that a kernel names keep these gaps, for the
    classifier's ``missing``; other gaps become the median, except in amounts whose gaps the kernel
    skips.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.svm import SVC
    >>> list(build_pipeline(SVC(), scale="minmax").named_steps)
    ['encode', 'scale', 'classify']
    >>> build_pipeline(MKLClassifier("rbf"))["classify"].scale
    'standard'
    """
    scaling = scaling_named(scale)
    sources = declared_sources(classifier)
    # Covariates that are kept are numbers.
    infer = any(source.reads is None for source in sources) and not covariates
    # Without those that change nothing, encoders of estimators with other kernels may be equal.
    changing = [source for source in sources if not _reads_all_numbers(source)]
    columns = () if schema is None else schema.columns
    parameters = classifier.get_params()
    parts = {"": classifier, **{f"{name}__": part for name, part in parameters.items()}}
    names = [f"{name}scale" for name, part in parts.items() if takes_scale(part)]
    encoder = TableEncoder(
        max_categories,
        Schema(columns, changing, infer, missing_value),
        sparse=bool(names) and not covariates,
    )
    passthrough = [source.columns for source in changing if source.unchanged]
    steps: list[tuple[str, Any]] = [("encode", encoder)]
    if covariates:
        steps.append(("covariates", CovariateRemoval(covariates, passthrough)))
    if names:
        unsaid = [name for name in names if parameters[name] is None]
        classifier = clone(classifier).set_params(**dict.fromkeys(unsaid, scale))
    elif scaling.amounts:
        raise SpecError(
            f"scale={scale!r} is for kernels, and {type(classifier).__name__} has none: use"
            f" {DEFAULT_SCALE!r}."
        )
    elif scaling.scaler is not None:
        steps.append(("scale", scaling.scaler().set_output(transform="pandas")))
    return Pipeline([*steps, ("classify", classifier)])


def takes_scale(estimator: Any) -> bool:
    """Return whether an estimator scales the columns of its kernels."""
    return isinstance(estimator, KernelEstimator) and "scale" in estimator.get_params(deep=False)


def preset_pipeline(
    preset: str | Preset,
    *,
    scale: str | None = None,
    covariates: Any = None,
    missing_value: Any = None,
    **settings: Any,
) -> Pipeline:
    """Put the steps of :func:`mklkit.build_pipeline` before a preset's classifier.

    The scaling is the preset's.

    Parameters
    ----------
    preset : str or Preset
        A name that ``mklkit list presets`` shows, or a preset itself.
    scale : str, optional
        How features are scaled, as for :func:`mklkit.build_pipeline`; by default as the
        preset states.
    covariates : str or sequence, optional
        Columns to remove from all others, as for :func:`mklkit.build_pipeline`.
    missing_value : str or float, optional
        A value that marks a missing one, such as ``-9``.
    **settings
        As for :func:`mklkit.preset_classifier`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        With the steps of :func:`mklkit.build_pipeline`, not fitted.

    Raises
    ------
    UnknownNameError
        If no preset has that name.
    MKLKitError
        If a setting or the scaling is invalid.

    See Also
    --------
    build_pipeline : The steps.
    preset_classifier : The classifier alone.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = preset_pipeline("paper-dimkl1")
    >>> model[-1].scale
    'minmax'
    >>> bool(model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.95)
    True
    """
    system = find_preset(preset)
    classifier = preset_classifier(system, **settings)
    scale = scale or system.scale or DEFAULT_SCALE
    return build_pipeline(
        classifier, scale=scale, covariates=covariates, missing_value=missing_value
    )


def model_pipeline(
    settings: ModelSettings,
    task: Task | None = None,
    scoring: Any = None,
    schema: Schema | None = None,
) -> Pipeline:
    """Return the unfitted steps that the settings of a model describe.

    Parameters
    ----------
    settings : ModelSettings
    task : Task, optional
        The task, whose estimator learns; classification by default. Other tasks raise an
        IncompatibleError for settings that are for classes.
    scoring : str or callable, optional
        The score by which a search chooses, if the settings ask for one.
    schema : Schema, optional
        What is known of the columns, as for :func:`mklkit.build_pipeline`.

    Examples
    --------
    >>> from mklkit.estimators.model_settings import ModelSettings
    >>> list(model_pipeline(ModelSettings(kernels="rbf", scale="minmax")).named_steps)
    ['encode', 'classify']
    """
    task = task or task_named(TASK)
    preset = default_preset() if settings.preset is None else find_preset(settings.preset)
    parameters = settings.parameters()
    if not task.takes_classes:
        parameters = settings.without_classes(task.why_no_classes)
        if preset.members > 1:
            raise IncompatibleError(f"The preset {preset.name} is a vote, which is for classes.")
    model = preset_model(preset, task.estimator, settings.tune, scoring, parameters)
    steps = settings.of("steps")
    steps["scale"] = settings.scale or preset.scale or DEFAULT_SCALE
    pipeline = build_pipeline(model, **steps, schema=schema)
    return Pipeline([*pipeline.steps[:-1], (task.step, pipeline[-1])])


def for_table(steps: Pipeline, columns: Iterable[Column]) -> Pipeline:
    """Return unfitted steps of :func:`mklkit.build_pipeline` for a table with these columns."""
    copy: Pipeline = clone(steps)
    return copy.set_params(encode__schema=copy.named_steps["encode"].schema.of_table(columns))


def match_class_weights(model: Any, labels: Any) -> Any:
    """Return a model whose class weights, given by the text of labels, use the labels."""
    for name, weights in model.get_params().items():
        if name.rpartition("__")[2] == "class_weight":
            model.set_params(**{name: weights_of_labels(weights, labels)})
    return model


def weights_of_labels(class_weight: Any, labels: Iterable[Any]) -> Any:
    """Return class weights by the labels of classes instead of their text.

    >>> weights_of_labels({"1": 5}, [0, 1])
    {1: 5}
    """
    if not isinstance(class_weight, dict):
        return class_weight
    known = {str(label): label for label in labels}
    return {known.get(name, name): weight for name, weight in class_weight.items()}


def describe(pipeline: Pipeline) -> list[str]:
    """Describe the fitted steps of ``build_pipeline``, and what is done to columns of numbers."""
    lines: list[str] = pipeline.named_steps["encode"].describe()
    removal = pipeline.named_steps.get("covariates")
    if removal is not None:
        lines.append(removal.describe())
    last = classifier_in(pipeline[-1])
    if isinstance(last, FittedKernels):
        lines += _scalings(last.bound_kernels_)
    elif scaler := pipeline.named_steps.get("scale"):
        lines.append(f"features {scaling_with(scaler).words}")
    return lines


def advice_on(pipeline: Pipeline) -> list[str]:
    """Return what users may do about the fitted steps of ``build_pipeline``."""
    advice: list[str] = pipeline.named_steps["encode"].advice()
    return advice


def _scalings(kernels: Sequence[BoundKernel]) -> list[str]:
    """Return a line that tells what kernels do to their columns of numbers; none without any."""
    by_words: dict[str, list[str]] = {}
    for bound in kernels:
        if bound.reads in ("numbers", "amounts"):
            by_words.setdefault(SCALINGS[scale_of(bound)].words, []).append(bound.label)
    if len(by_words) == 1:
        return [f"features {words}" for words in by_words]
    parts = [f"{words} for {listed(labels)}" for words, labels in by_words.items()]
    return [f"features {'; '.join(parts)}"] if parts else []


def encoder_in(model: Any) -> TableEncoder | None:
    """Return the first ``TableEncoder`` among a model's steps, None if there is none."""
    before, _ = split(model)
    steps = () if before is None else (step for _, step in before.steps)
    return next((step for step in steps if isinstance(step, TableEncoder)), None)


def missing_sources_in(model: Pipeline, features: pd.DataFrame) -> pd.DataFrame:
    """Return which samples miss the source of each kernel of a model, fitted or not, by its label.

    >>> from mklkit import MKLClassifier
    >>> lab = {"lab_a": [None, 1, None], "lab_b": [None, 2, 3]}
    >>> frame = pd.DataFrame({"age": [30, None, 50], **lab})
    >>> missing_sources_in(build_pipeline(MKLClassifier(["rbf@age", "lab:rbf@lab_*"])), frame)
       rbf@age    lab
    0    False   True
    1     True  False
    2    False  False
    """
    missing, _ = _missing_and_none(model, features)
    return missing


def missing_and_none_in(
    model: Pipeline, features: pd.DataFrame
) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Return which samples miss each source of a model, and which have nothing that it reads (n,).

    A model whose strategy fills sources reads something in each row, and so does one with a kernel
    on all columns of numbers.

    >>> from mklkit import MKLClassifier
    >>> frame = pd.DataFrame({"age": [30, None, None], "lab_a": [None, 2, None]})
    >>> for strategy in ("present", "impute"):
    ...     model = build_pipeline(MKLClassifier(["rbf@age", "rbf@lab_a"], missing=strategy))
    ...     missing_and_none_in(model, frame)[1].tolist()
    [False, False, True]
    [False, False, False]
    >>> model = build_pipeline(MKLClassifier(["rbf", "rbf@lab_a"]))
    >>> missing_and_none_in(model, frame)[1].tolist()
    [False, False, False]
    """
    missing, none = _missing_and_none(model, features)
    sources = declared_sources(model[-1])
    fills = any(source.missing == "filled" or _reads_all_numbers(source) for source in sources)
    return missing, none & (not fills)


def _reads_all_numbers(source: Source) -> bool:
    """Whether a source is all numeric columns, whose gaps are filled in each row."""
    return source.columns is None and not source.unchanged and source.missing is None


def _missing_and_none(
    model: Pipeline, features: pd.DataFrame
) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Return which samples miss each source, and which lack all that kernels read, if unfilled."""
    schema = model[0].schema
    features = _with_known_ids(model[-1], features)
    if not missable(declared_sources(model[-1])) or (
        schema.missing_value is None and not count_gaps(features).any()
    ):
        return pd.DataFrame(index=features.index), np.zeros(len(features), bool)
    kept = [
        source if source.missing is None else attrs.evolve(source, missing="kept")
        for source in schema.sources
    ]
    encoder = clone(model[0]).set_params(schema=attrs.evolve(schema, sources=kept))
    encoded = encoder.fit_transform(features)
    names = encoded.columns.tolist()
    missing: dict[str, NDArray[np.bool_]] = {}
    none = np.ones(len(features), bool)
    for source in encoder.schema_.sources:
        columns = [*chosen_columns([source.columns], names)]
        lack = without_values(encoded[columns])
        none &= lack & bool(columns) & (not source.skips_gaps)
        if source.missing is not None and columns:
            missing[source.label] = lack
    return pd.DataFrame(missing, index=features.index), none


def _with_known_ids(model: Any, features: pd.DataFrame) -> pd.DataFrame:
    """Return rows with gaps for the identifiers that the kernels of a model can't look up."""
    for _, name, unknown in _looked_up(model, features):
        features = features.assign(**{name: features[name].mask(unknown)})
    return features


def _looked_up(model: Any, features: pd.DataFrame) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield each kernel on row ids beside others, its column, and the rows (n,) unknown to it."""
    if all(source.reads != "row ids" for source in declared_sources(model)):
        return
    kernels = bind_kernels(classifier_in(model).kernels)
    for bound in kernels if len(kernels) > 1 else ():
        chosen = chosen_columns([bound.columns], features.columns.tolist())
        for name in chosen if bound.reads == "row ids" and bound.columns is not None else ():
            yield bound.label, name, bound.kernel.unknown(features[name].to_numpy(object))


def n_looked_up(pipeline: Any, features: pd.DataFrame) -> dict[str, int]:
    """Return how many rows each kernel on row ids of a pipeline can look up, by its label.

    There are none of a kernel without others, which can't be missing.
    """
    known: dict[str, int] = {}
    for label, _, unknown in _looked_up(pipeline[-1], features):
        known[label] = int((~unknown).sum())
    return known


def columns_needed(pipeline: Any) -> list[str]:
    """Return the input columns that some kernel of a fitted pipeline uses, in their order.

    All except identifiers are, if a step between the ``TableEncoder`` at its beginning and the
    classifier can't be traced.

    >>> import pandas as pd
    >>> from mklkit import MKLClassifier
    >>> frame = pd.DataFrame({"age": [30, 40], "ward": ["a", "b"], "when": "2024-03-31"})
    >>> pipeline = build_pipeline(MKLClassifier(["linear@age", "rbf@ward_*"]))
    >>> columns_needed(pipeline.fit(frame, ["ill", "well"]))
    ['age', 'ward']
    """
    names = [str(name) for name in pipeline.feature_names_in_]
    encoder = encoder_in(pipeline)
    if encoder is None:
        return names
    dropped = {*encoder.identifiers_}
    names = [name for name in names if name not in dropped]
    read = inputs_of_kernels(pipeline)
    if read is None:
        return names
    used = {name for columns in read.values() for name in columns}
    return [name for name in names if name in used]


def lacking_a_source(pipeline: Pipeline, features: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows (n,) have no value in the columns of some kernel of a fitted pipeline.

    None has that if a step between the ``TableEncoder`` and the classifier can't be traced.

    >>> from mklkit import MKLClassifier
    >>> frame = pd.DataFrame({"age": [30, 40, 50], "lab_a": [1, 2, 3], "lab_b": [2, 3, 5]})
    >>> pipeline = build_pipeline(MKLClassifier(["rbf@age", "lab:rbf@lab_*"]))
    >>> pipeline = pipeline.fit(frame, ["ill", "well", "ill"])
    >>> lacking_a_source(pipeline, frame.assign(lab_a=None, lab_b=[None, 3, 5]))
    array([ True, False, False])
    """
    lacking = np.zeros(len(features), bool)
    features = _with_known_ids(pipeline[-1], features)
    for columns in (inputs_of_kernels(pipeline) or {}).values():
        lacking |= without_values(features[columns])
    return lacking


def inputs_of_kernels(pipeline: Any) -> dict[str, list[str]] | None:
    """Return the input columns that each kernel reads, by its label; None if they are unknown."""
    before, classifier = split(pipeline)
    encoder = None if before is None else before[0]
    if not (isinstance(encoder, TableEncoder) and isinstance(classifier, KernelModel)):
        return None
    if column_names(classifier).tolist() != encoder.feature_names_out_:
        return None
    sources = np.asarray(encoder.sources_, dtype=object)
    columns = [slice(None) if places is None else places for places in classifier.kernel_columns_]
    return {
        label: list(dict.fromkeys(sources[places]))
        for label, places in zip(classifier.kernel_names_, columns, strict=True)
    }
