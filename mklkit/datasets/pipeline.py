"""The steps before the classifier, and their description in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, get_args

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.covariates import CovariateRemoval
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.selecting import chosen_columns
from mklkit.errors import IncompatibleError, MKLKitError, named, suggest
from mklkit.estimators.declaring import declared_sources, missable
from mklkit.estimators.from_preset import (
    default_preset,
    find_preset,
    preset_classifier,
    preset_model,
)
from mklkit.estimators.introspection import KernelModel, column_names, split
from mklkit.estimators.model_settings import ModelSettings, Scale
from mklkit.estimators.sources import counts_in
from mklkit.protocols import Column, Schema, Task
from mklkit.protocols.component import TASK, Preset
from mklkit.registry.tasks import task_named

SCALES: tuple[str, ...] = get_args(Scale)
DEFAULT_SCALE = "standard"
SCALE_WORDS = {
    StandardScaler: "features standardised (mean 0, deviation 1)",
    MinMaxScaler: "features scaled to [-1, 1]",
}


class ScaledColumns(TransformerMixin, BaseEstimator):
    """A scikit-learn scaler for the columns of numbers; others are passed on unchanged.

    ``passthrough`` are the columns not to scale, named as for kernels, with None for all. With
    ``infer``, counts are not scaled either, so that kernels can be proposed for them. The
    fitted ``scaler_`` scales the columns ``scaled_`` and not the columns ``left_``.

    >>> from sklearn.preprocessing import MinMaxScaler
    >>> frame = pd.DataFrame({"word": ["a", "b"], "count": [4.0, 2.0], "age": [30.0, 50.0]})
    >>> ScaledColumns(MinMaxScaler(), ["word", "count"]).fit_transform(frame)
      word  count  age
    0    a    4.0  0.0
    1    b    2.0  1.0
    """

    def __init__(self, scaler: Any, passthrough: Sequence[Any], infer: bool = False) -> None:
        self.scaler = scaler
        self.passthrough = passthrough
        self.infer = infer

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Fit the scaler to its columns of the training rows."""
        self._begin(X)
        if self.scaled_:
            self.scaler_.fit(X[self.scaled_])
        return self

    def partial_fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Fit the scaler to more training rows."""
        if "scaler_" not in vars(self):
            self._begin(X)
        if self.scaled_:
            self.scaler_.partial_fit(X[self.scaled_])
        return self

    def _begin(self, X: pd.DataFrame) -> None:
        self.feature_names_in_ = X.columns.to_numpy(dtype=object)
        self.n_features_in_ = X.shape[1]
        names = X.columns.tolist()
        left = chosen_columns(self.passthrough, names)
        left |= {name for name in names if not is_numeric_dtype(X[name].dtype)}
        left |= {names[place] for place in (counts_in(X) if self.infer else ())}
        self.left_ = [name for name in names if name in left]
        self.scaled_ = [name for name in names if name not in left]
        self.scaler_ = clone(self.scaler)

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the same columns, some of them scaled."""
        check_is_fitted(self)
        if not self.scaled_:
            return X
        scaled = np.asarray(self.scaler_.transform(X[self.scaled_]))
        return X.assign(**dict(zip(self.scaled_, scaled.T, strict=True)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_in_, dtype=object)


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
    scale : {"standard", "minmax", "none"}, default="standard"
        ``"minmax"`` scales to [-1, 1], as Price et al. 2022 do.
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
        With the steps ``encode``, ``scale``, ``covariates`` (if any) and ``classify``; each passes
        on a DataFrame with readable column names, so that kernels can choose columns by name.

    Raises
    ------
    MKLKitError
        If ``scale`` is another word.

    See Also
    --------
    preset_pipeline : The same steps before a preset's classifier.
    TableEncoder : The first step.

    Notes
    -----
    Columns that kernels of the classifier read as amounts, text, categories or row ids are passed
    on unchanged: they are not dropped as identifiers, one-hot encoded or scaled. If kernels are
    proposed (and no covariates removed), so are text, counts, and categories in addition to their
    one-hot columns. Rows that lack all columns that a kernel names keep these gaps, for the
    classifier's ``missing``; other gaps become the median, except in amounts whose gaps the kernel
    skips.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> list(build_pipeline(SVC(), scale="minmax").named_steps)
    ['encode', 'scale', 'classify']
    """
    if scale not in SCALES:
        raise MKLKitError(
            f"scale must be 'standard', 'minmax' or 'none', got {scale!r}."
            f"{suggest(str(scale), SCALES)}"
        )
    sources = declared_sources(classifier)
    # Counts minus covariates are no counts, and covariates that are kept are numbers.
    infer = bool(sources) and all(source.reads is None for source in sources) and not covariates
    # Without those that change nothing, encoders of estimators with other kernels may be equal.
    changing = [source for source in sources if source.columns is not None or source.unchanged]
    columns = () if schema is None else schema.columns
    encoder = TableEncoder(max_categories, Schema(columns, changing, infer, missing_value))
    passthrough = [source.columns for source in changing if source.unchanged]
    scaler: Any = "passthrough"
    if scale != "none":
        scaler = StandardScaler() if scale == "standard" else MinMaxScaler(feature_range=(-1, 1))
        scaler.set_output(transform="pandas")
        if passthrough or infer:
            scaler = ScaledColumns(scaler, passthrough, infer)
    removal = [("covariates", CovariateRemoval(covariates, passthrough))] if covariates else []
    return Pipeline([("encode", encoder), ("scale", scaler), *removal, ("classify", classifier)])


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
    scale : {"standard", "minmax", "none"}, optional
        How features are scaled; by default as the preset states.
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
    >>> model["scale"].feature_range
    (-1, 1)
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
    ['encode', 'scale', 'classify']
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
    known = {str(label): label for label in labels}
    for name, weights in model.get_params().items():
        if name.rpartition("__")[2] == "class_weight" and isinstance(weights, dict):
            model.set_params(**{name: {known.get(k, k): w for k, w in weights.items()}})
    return model


def describe(pipeline: Pipeline) -> list[str]:
    """Describe the fitted steps of ``build_pipeline``, one line per step."""
    encoder = pipeline.named_steps["encode"]
    scaler = pipeline.named_steps["scale"]
    rest = ""
    if isinstance(scaler, ScaledColumns):
        numeric = {*encoder.numeric_}
        left = [name for name in scaler.left_ if name in numeric]
        rest = f", but not {named(left)}" if left else ""
        scaler = scaler.scaler if scaler.scaled_ else None
    words = SCALE_WORDS.get(type(scaler))
    lines: list[str] = encoder.describe()
    lines.append("features not scaled" if words is None else words + rest)
    removal = pipeline.named_steps.get("covariates")
    return lines if removal is None else [*lines, removal.describe()]


def encoder_in(model: Any) -> TableEncoder | None:
    """Return the first ``TableEncoder`` among a model's steps, None if there is none."""
    before, _ = split(model)
    steps = () if before is None else (step for _, step in before.steps)
    return next((step for step in steps if isinstance(step, TableEncoder)), None)


def missing_sources_in(model: Pipeline, features: pd.DataFrame) -> pd.DataFrame:
    """Return which rows lack the source of each kernel of a model, fitted or not, by its label.

    >>> from mklkit import MKLClassifier
    >>> lab = {"lab_a": [None, 1, None], "lab_b": [None, 2, 3]}
    >>> frame = pd.DataFrame({"age": [30, None, 50], **lab})
    >>> missing_sources_in(build_pipeline(MKLClassifier(["rbf@age", "lab:rbf@lab_*"])), frame)
       rbf@age    lab
    0    False   True
    1     True  False
    2    False  False
    """
    sources = missable(declared_sources(model[-1]))
    schema = model[0].schema
    if not sources or (schema.missing_value is None and not features.isna().any(axis=None)):
        return pd.DataFrame(index=features.index)
    kept = [
        source if source.missing is None else attrs.evolve(source, missing="kept")
        for source in schema.sources
    ]
    encoder = clone(model[0]).set_params(schema=attrs.evolve(schema, sources=kept))
    encoded = encoder.fit_transform(features)
    names = encoded.columns.tolist()
    columns = {label: [*chosen_columns([source], names)] for label, source in sources.items()}
    gaps = {label: encoded[each].isna() for label, each in columns.items() if each}
    return pd.DataFrame({label: of_source.all(axis=1) for label, of_source in gaps.items()})


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
    before, classifier = split(pipeline)
    encoder = None if before is None else before[0]
    if not isinstance(encoder, TableEncoder):
        return names
    dropped = {*encoder.identifiers_}
    names = [name for name in names if name not in dropped]
    traced = isinstance(classifier, KernelModel)
    if not traced or column_names(classifier).tolist() != encoder.feature_names_out_:
        return names
    sources = np.asarray(encoder.sources_, dtype=object)
    columns = [slice(None) if places is None else places for places in classifier.kernel_columns_]
    used = {name for places in columns for name in sources[places]}
    return [name for name in names if name in used]
