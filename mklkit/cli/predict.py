"""``mklkit predict``: classes for new rows, from a saved model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import passing, say, working
from mklkit.cli.findings import Accuracy, FarValues, UnknownValues, warnings_once
from mklkit.cli.regression import NumberErrors
from mklkit.cli.results import check_parquet, results_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["columns_of", "predict", "target_of"]

OUTLIER_WORDS = ("outlier", "inlier")
"""Predictions of a model of rows without labels, by whether the score is 0 or more."""


def predict(
    model: opt.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            autocompletion=complete.data_sets,
            help="New rows, with the feature columns that the model's kernels use.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=opt.results_path,
            help="Write CSV, or Parquet if the name ends in .parquet, to this file instead of"
            " stdout (-).",
        ),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Refuse a model without probabilities, instead of leaving their columns out.",
        ),
    ] = False,
) -> None:
    """Predict a class, or a number, for each row of DATA, in its order.

    The table has a column 'prediction' and, for two classes, 'score': the decision value, positive
    for the second class. A model of rows without labels (MKLOneClass) gives 'inlier' or 'outlier',
    with a score below 0. A model of 'mklkit fit --probability' gives a column
    'probability_<class>' for each class too. If DATA has the target column, the accuracy (of
    numbers R² and the mean absolute error) is printed on stderr.
    Large CSV and Parquet files, globs and folders of them are read and predicted in parts.
    """

    from mklkit.datasets.new_rows import load_in_chunks
    from mklkit.errors import ModelFileError
    from mklkit.persistence import load_model, read_facts
    from mklkit.preprocessing import columns_needed, encoder_in

    if output is not None:
        _check_output(output, model, data)
    with working("loading the model"):
        pipeline, facts = load_model(model), read_facts(model)
    if probability and not hasattr(pipeline, "predict_proba"):
        raise ModelFileError(
            f"{model} gives no probabilities: fit it again with 'mklkit fit --probability', or in"
            " Python with MKLClassifier(probability=True)."
        )
    if not hasattr(pipeline, "predict"):
        raise ModelFileError(
            f"{model} holds a transformer, which predicts nothing: use it from Python, through"
            " mklkit.load_model, before an estimator that takes a kernel or features."
        )
    columns = columns_of(pipeline, model)
    needed = columns_needed(pipeline)
    encoder = encoder_in(pipeline)
    readings = {} if encoder is None else encoder.readings_
    findings = UnknownValues(encoder), FarValues(encoder)
    accuracy, n_rows = _accuracy_of(pipeline), 0
    # A terminal shows either the results or their progress.
    shown = output is not None or not sys.stdout.isatty()
    with passing("predicting", shown) as progress, results_file(output) as write, warnings_once():
        chunks = load_in_chunks(data, columns, target_of(facts), needed, readings, progress)
        try:
            for rows in chunks:
                for note in rows.notes:
                    say(note)
                for finding in findings:
                    finding.add(rows.features[needed])
                table = _tried(pipeline, rows.features, facts, model)
                write(table)
                if "prediction" in table:
                    accuracy.add(rows.target, table["prediction"])
                n_rows += len(table)
        finally:
            for finding in findings:
                finding.say()
    accuracy.say()
    if output is not None:
        say(f"wrote {n_rows} predictions to {output}")


def _accuracy_of(pipeline: Any) -> Accuracy | NumberErrors:
    """Return what scores the predictions of rows whose target is given."""
    from sklearn.base import is_outlier_detector, is_regressor

    if is_regressor(pipeline):
        return NumberErrors()
    return Accuracy(OUTLIER_WORDS if is_outlier_detector(pipeline) else pipeline.classes_)


def _check_output(output: Path, model: Path, data: str) -> None:
    from mklkit.datasets import BUILTIN_NAMES
    from mklkit.datasets.chunked import files_of
    from mklkit.datasets.paths import same_file
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable

    check_writable(output)
    check_parquet(output)
    inputs = [] if data in BUILTIN_NAMES else files_of(data)
    for source in (model, *inputs):
        if same_file(output, source):
            raise DataError(f"{output} is read from; choose another name for the predictions.")


def columns_of(pipeline: Any, model: Path) -> list[str]:
    """Return the names of the columns that a loaded model was fitted on."""
    from mklkit.errors import ModelFileError

    names = getattr(pipeline, "feature_names_in_", None)
    if names is None:
        raise ModelFileError(
            f"{model} was fitted on an array without column names: use it from Python,"
            " through mklkit.persistence.load_model."
        )
    return [str(name) for name in names]


def target_of(facts: dict[str, Any]) -> str | None:
    """Return the target's name in a model file, None where it has none."""
    data = facts.get("data")
    target = data.get("target") if isinstance(data, dict) else None
    return target if isinstance(target, str) else None


def _tried(pipeline: Any, features: pd.DataFrame, facts: dict[str, Any], model: Path) -> Any:
    """Return the predictions; without a trial at loading, an error may be due to the file."""
    from mklkit.errors import MKLKitError, ModelFileError, plain_message

    try:
        return _predictions(pipeline, features)
    except (MKLKitError, OSError, MemoryError):
        raise
    except Exception as error:
        if facts["trial"] is not None:
            raise
        raise ModelFileError(
            f"{model} can't decide these rows: {plain_message(error)}. The rows must be like the"
            " training rows; if they are, the file was altered: save the model again."
        ) from error


def _predictions(pipeline: Any, features: pd.DataFrame) -> pd.DataFrame:
    import numpy as np
    import pandas as pd
    from sklearn.base import is_outlier_detector, is_regressor

    from mklkit.estimators.introspection import classifier_in

    if is_regressor(pipeline):
        numbers = np.asarray(pipeline.predict(features))
        if numbers.ndim == 1:
            return pd.DataFrame({"prediction": numbers})
        names = [f"prediction_{name}" for name in classifier_in(pipeline).target_names_]
        return pd.DataFrame(numbers, columns=names)
    if is_outlier_detector(pipeline):
        scores = np.asarray(pipeline.decision_function(features))
        words = np.asarray(OUTLIER_WORDS)[(scores >= 0).astype(int)]
        return pd.DataFrame({"prediction": words, "score": scores})
    labels = np.asarray(pipeline.classes_)
    # For two classes the decision value gives the class, without a second pass over the kernels.
    if len(labels) == 2 and hasattr(pipeline, "decision_function"):
        scores = np.asarray(pipeline.decision_function(features))
        table = pd.DataFrame({"prediction": labels[(scores > 0).astype(int)], "score": scores})
    else:
        table = pd.DataFrame({"prediction": pipeline.predict(features)})
    if not hasattr(pipeline, "predict_proba"):
        return table
    found = zip(labels.tolist(), pipeline.predict_proba(features).T, strict=True)
    return table.assign(**{f"probability_{label}": column for label, column in found})
