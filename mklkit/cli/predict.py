"""``mklkit predict``: classes for new rows, from a saved model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import say, working

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.preprocessing.encoder import TableEncoder

__all__ = ["predict"]

VALUES_SHOWN = 3


def predict(
    model: opt.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="New rows, with the feature columns that the model's kernels use."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=opt.results_path,
            help="Write CSV to this file instead of stdout (-).",
        ),
    ] = None,
) -> None:
    """Predict a class for each row of DATA, in its order.

    The CSV has a column 'prediction' and, for two classes, 'score': the decision value, positive
    for the second class. If DATA has the target column too, the accuracy is printed on stderr.
    """
    from mklkit.datasets import load_features
    from mklkit.persistence import load_model, read_facts
    from mklkit.preprocessing import columns_needed, encoder_in

    if output is not None:
        _check_output(output, model, data)
    with working("loading the model"):
        pipeline, facts = load_model(model), read_facts(model)
    columns = _columns_of(pipeline, model)
    needed = columns_needed(pipeline)
    encoder = encoder_in(pipeline)
    readings = {} if encoder is None else encoder.readings_
    rows = load_features(data, columns, _target_of(facts), needed, readings)
    for note in rows.notes:
        say(note)
    if encoder is not None:
        _say_unknown_values(encoder, rows.features[needed])
        _say_far_values(encoder, rows.features[needed])
    with working("predicting"):
        table = _tried(pipeline, rows.features, facts, model)
    _write(table, output)
    if rows.target is not None:
        _say_accuracy(rows.target, table["prediction"], pipeline.classes_)
    if output is not None:
        say(f"wrote {len(table)} predictions to {output}")


def _check_output(output: Path, model: Path, data: str) -> None:
    from mklkit.datasets.paths import same_file
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable

    check_writable(output)
    for source in (model, data):
        if same_file(output, Path(source)):
            raise DataError(f"{output} is read from; choose another name for the predictions.")


def _columns_of(pipeline: Any, model: Path) -> list[str]:
    from mklkit.errors import ModelFileError

    names = getattr(pipeline, "feature_names_in_", None)
    if names is None:
        raise ModelFileError(
            f"{model} was fitted on an array without column names: predict with it from Python,"
            " through mklkit.persistence.load_model."
        )
    return [str(name) for name in names]


def _target_of(facts: dict[str, Any]) -> str | None:
    data = facts.get("data")
    target = data.get("target") if isinstance(data, dict) else None
    return target if isinstance(target, str) else None


def _say_unknown_values(encoder: TableEncoder, features: pd.DataFrame) -> None:
    """Report values of text columns that were not in the training data; they have no indicator."""
    import numpy as np

    from mklkit.errors import counted
    from mklkit.preprocessing.columns import text_of

    if not encoder.text_:
        return
    for name, known in zip(encoder.text_, encoder.one_hot_.categories_, strict=True):
        if name not in features:
            continue
        values = text_of(features[[name]])[:, 0]
        unknown = values[~np.isin(values.astype(str), known.astype(str))]
        if not len(unknown):
            continue
        distinct = list(dict.fromkeys(unknown))
        shown = ", ".join(repr(value) for value in distinct[:VALUES_SHOWN])
        more = len(distinct) - VALUES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        holds = "holds" if len(unknown) == 1 else "hold"
        were = "a value that was" if len(distinct) == 1 else "values that were"
        say(
            f"column {name!r}: {counted(len(unknown), 'row')} {holds} {were} not in the training"
            f" data ({shown}{rest})"
        )


def _say_far_values(encoder: TableEncoder, features: pd.DataFrame) -> None:
    """Say which numeric columns lie wholly outside the training data, by more than their range."""
    import numpy as np
    import pandas as pd

    from mklkit.errors import quoted

    # A model file may have been altered, and its trial at loading does not ask for ranges.
    if np.shape(encoder.ranges_) != (2, len(encoder.numeric_)):
        return
    for name, (low, high) in zip(encoder.numeric_, encoder.ranges_.T, strict=True):
        if name not in features or low == high:
            continue
        values = pd.to_numeric(features[name], errors="coerce").to_numpy(float, na_value=np.nan)
        values = values[~np.isnan(values)]
        reach = high - low
        if len(values) and ((values < low - reach) | (values > high + reach)).all():
            least, most = values.min(), values.max()
            what = f"all {len(values)} values ({least:.6g} to {most:.6g}) lie"
            if len(values) == 1:
                what = f"{least:.6g} lies"
            say(
                f"column {quoted(name)}: {what} far outside the training data ({low:.6g} to"
                f" {high:.6g}); same units?"
            )


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

    # One pass over the kernels: for two classes the decision value gives the class.
    if len(pipeline.classes_) == 2 and hasattr(pipeline, "decision_function"):
        scores = np.asarray(pipeline.decision_function(features))
        classes = np.asarray(pipeline.classes_)[(scores > 0).astype(int)]
        return pd.DataFrame({"prediction": classes, "score": scores})
    return pd.DataFrame({"prediction": pipeline.predict(features)})


def _write(table: pd.DataFrame, output: Path | None) -> None:
    from mklkit.persistence.atomic import replacing

    text = table.to_csv(index=False).encode()
    if output is None:
        # UTF-8 like the file, whatever the terminal's encoding.
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
        return
    with replacing(output) as file:
        file.write(text)


def _say_accuracy(target: pd.Series, predictions: pd.Series, classes: Any) -> None:
    from mklkit.cli.report import percent
    from mklkit.errors import counted
    from mklkit.evaluation import score
    from mklkit.preprocessing.columns import text_of

    # Compared as text, since labels of a file with few rows may be read as another type.
    truth = text_of(target.to_frame())[:, 0]
    given = target.notna().to_numpy()
    known = {str(label) for label in classes}
    if not set(truth[given]) & known:
        say(f"column {target.name!r} has none of the model's classes: no accuracy")
        return
    guesses = text_of(predictions.to_frame())[:, 0]
    result = score(truth[given].astype(str), guesses[given].astype(str))
    say(
        f"accuracy {percent(result['accuracy'])}, balanced"
        f" {percent(result['balanced_accuracy'])} on the {counted(result['rows'], 'row')} with"
        f" {target.name!r} given; always the commonest class: {percent(result['baseline'])}"
    )
