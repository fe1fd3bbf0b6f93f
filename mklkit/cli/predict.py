"""``mklkit predict``: classes for new rows, from a saved model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import passing, plain, say, working
from mklkit.cli.findings import FarValues, Tally, UnknownValues, warnings_once

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.evaluation.tasks import Task

__all__ = ["columns_of", "predict", "target_of"]

Write = Callable[["pd.DataFrame"], None]


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
    from mklkit.datasets.pipeline import columns_needed, encoder_in
    from mklkit.errors import ModelFileError
    from mklkit.evaluation.tasks import task_of
    from mklkit.persistence import load_model, read_facts

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
    task, n_rows = task_of(pipeline), 0
    tally = Tally(task)
    # A terminal shows either the results or their progress.
    shown = output is not None or not sys.stdout.isatty()
    with passing("predicting", shown) as progress, _results_file(output) as write, warnings_once():
        chunks = load_in_chunks(data, columns, target_of(facts), needed, readings, progress)
        try:
            for rows in chunks:
                for note in rows.notes:
                    say(note)
                for finding in findings:
                    finding.add(rows.features[needed])
                table = _tried(task, pipeline, rows.features, facts, model)
                write(table)
                if rows.target is not None and "prediction" in table:
                    tally.add(rows.target, table["prediction"])
                n_rows += len(table)
        finally:
            for finding in findings:
                finding.say()
    tally.say()
    if output is not None:
        say(f"wrote {n_rows} predictions to {output}")


def _check_output(output: Path, model: Path, data: str) -> None:
    from mklkit.datasets import BUILTIN_NAMES
    from mklkit.datasets.files import files_of
    from mklkit.datasets.paths import same_file
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable

    check_writable(output)
    _check_parquet(output)
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


def _tried(
    task: Task, pipeline: Any, features: pd.DataFrame, facts: dict[str, Any], model: Path
) -> pd.DataFrame:
    """Return the predictions; without a trial at loading, an error may be due to the file."""
    from mklkit.errors import MKLKitError, ModelFileError, plain_message

    try:
        return task.predictions(pipeline, features)
    except (MKLKitError, OSError, MemoryError):
        raise
    except Exception as error:
        if facts["trial"] is not None:
            raise
        raise ModelFileError(
            f"{model} can't decide these rows: {plain_message(error)}. The rows must be like the"
            " training rows; if they are, the file was altered: save the model again."
        ) from error


@contextmanager
def _results_file(output: Path | None) -> Iterator[Write]:
    """Yield a function that writes more rows to a CSV or Parquet file, or to stdout (None).

    The file is there when all rows have been written; until then, what was there before.
    """
    from mklkit.persistence.atomic import replacing

    if output is None:
        # UTF-8 like the file, whatever the terminal's encoding.
        yield _csv_to(sys.stdout.buffer, plain if sys.stdout.isatty() else str)
        sys.stdout.buffer.flush()
        return
    with replacing(output) as file:
        if not _is_parquet(output):
            yield _csv_to(file)
            return
        with _parquet_to(file) as write:
            yield write


def _check_parquet(output: Path) -> None:
    """Raise a ``DataError`` if a Parquet file is asked for that can't be written."""
    from mklkit.errors import DataError

    if not _is_parquet(output):
        return
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise DataError(
            f"Writing {output.name} needs pyarrow: pip install pyarrow, or write CSV."
        ) from error


def _is_parquet(output: Path) -> bool:
    from mklkit.datasets.files import READERS, ending_of

    ending = ending_of(output)
    return ending is not None and READERS[ending][0] == "Parquet"


def _csv_to(file: BinaryIO, told: Callable[[str], str] = str) -> Write:
    from mklkit.datasets.csv_text import csv_text

    begun = False

    def write(table: pd.DataFrame) -> None:
        nonlocal begun
        file.write(told(csv_text(table, header=not begun)).encode())
        begun = True

    return write


@contextmanager
def _parquet_to(file: BinaryIO) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: Any = None

    def write(table: pd.DataFrame) -> None:
        nonlocal writer
        rows = pa.Table.from_pandas(table, preserve_index=False)
        if writer is None:
            writer = pq.ParquetWriter(file, rows.schema)
        writer.write_table(rows.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
