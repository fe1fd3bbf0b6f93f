"""``mklkit predict``: classes for new samples, from a saved model."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import counting, say, working
from mklkit.cli.outputs import check_outputs, results_file
from mklkit.datasets.formats import WRITABLE, format_of
from mklkit.display.numbers import extent
from mklkit.errors import ModelFileError, counted, quoted

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from mklkit.datasets.encoder import TableEncoder
    from mklkit.datasets.study_files import StudyFiles
    from mklkit.datasets.training_digest import KnownRows
    from mklkit.evaluation.shifts import ColumnShifts
    from mklkit.protocols import Task

VALUES_SHOWN = 3
VALUES_KEPT = 10_000


def predict(
    model: opt.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            autocompletion=complete.data_sets,
            help="New samples, with the feature columns that the model's kernels use.",
        ),
    ],
    source: opt.Sources = None,
    by: Annotated[
        str | None,
        opt.data_option(
            "--by",
            metavar="COLUMN",
            show_default="that of the model's training files, if --source is used",
            help="The column that identifies a sample: the first of the results; it joins the"
            " files of --source.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=opt.results_path,
            help="Write to this file instead of stdout (-), in the format of its extension:"
            f" {', '.join(WRITABLE)}; CSV if it is unknown.",
        ),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Raise an error for a model without probabilities, instead of writing scores.",
        ),
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="K",
            min=1,
            help="Write the K likeliest classes of each sample, best first, in columns 'top_1',"
            " 'top_1_probability' (or 'top_1_score') and so on, instead of a column for each"
            " class.",
        ),
    ] = None,
) -> None:
    """Predict the class or value of each sample of DATA, in input order.

    The table has a column 'prediction' and, for two classes, 'score': the decision value, positive
    for the second class; for several classes, a column 'score_<class>' for each, of which the
    largest decides. A model of samples without labels (MKLOneClass) gives 'inlier' or 'outlier',
    with a score below 0. A model of 'mklkit fit --probability' gives a column
    'probability_<class>' for each class. If DATA has the target column, the accuracy (R² and
    the mean absolute error for numbers) is printed on stderr.
    A row without a value in any column that the model's kernels use has no prediction: its cells
    are empty, and the number of such rows is printed on stderr.
    Large files are read and predicted in parts if their format allows it, and so are globs and
    folders.
    """
    from mklkit.persistence import faults_of_file, load_model, read_metadata
    from mklkit.persistence.metadata import targets_of

    with working("loading the model"):
        pipeline, metadata = load_model(model), read_metadata(model)
    rows = files_for_model(metadata, data, source, by, names_rows=True)
    check_outputs([output], [rows], model)
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
    with faults_of_file(model):
        columns = columns_of(pipeline, model)
        known = known_rows(pipeline, metadata)
        _predict(pipeline, targets_of(metadata), columns, rows, by, output, top, known)


def _predict(
    pipeline: Any,
    targets: list[str],
    columns: list[str],
    data: str | StudyFiles,
    by: str | None,
    output: Path | None,
    top: int | None,
    training: KnownRows,
) -> None:
    from mklkit.datasets.new_rows import load_in_chunks
    from mklkit.datasets.pipeline import columns_needed, encoder_in
    from mklkit.estimators.task_of import task_of

    needed = columns_needed(pipeline)
    encoder = encoder_in(pipeline)
    schema = None if encoder is None else encoder.schema_
    findings = Findings(pipeline)
    task = task_of(pipeline)
    predictions = Predictions(task, pipeline, top)
    tally = Tally(task)
    # A terminal shows either the results or their progress.
    shown = output is not None or not sys.stdout.isatty()
    with counting("predicting", shown) as progress, results_file(output) as write, _warnings_once():
        chunks = load_in_chunks(data, columns, targets, needed, schema, progress, by)
        try:
            for rows in chunks:
                for note in rows.notes:
                    say(note)
                findings.add(rows.features[needed])
                training.add(rows.features, rows.ids)
                table, known = predictions.of(rows.features, rows.ids)
                if rows.ids is not None:
                    table.insert(0, rows.ids.name, rows.ids.to_numpy(), allow_duplicates=True)
                write(table)
                if len(rows.targets.columns) == len(targets) > 0:
                    tally.add(rows.targets[known], table[known])
        finally:
            findings.say(gross=True)
            for sentence in training.sentences():
                say(sentence)
    predictions.say()
    tally.say()
    if output is not None:
        as_csv = ", as CSV" if output.suffix and format_of(output) is None else ""
        say(f"wrote {predictions.n_rows} predictions to {output}{as_csv}")


def columns_of(pipeline: Any, model: Path) -> list[str]:
    """Return the names of the columns that a loaded model was fitted on."""
    names = getattr(pipeline, "feature_names_in_", None)
    if names is None:
        raise ModelFileError(
            f"{model} was fitted on an array without column names: use it from Python,"
            " through mklkit.persistence.load_model."
        )
    return [str(name) for name in names]


def files_for_model(
    metadata: dict[str, Any],
    data: str,
    sources: Sequence[str] | None,
    by: str | None,
    names_rows: bool = False,
) -> str | StudyFiles:
    """Return DATA, joined with the files of --source if there are any.

    Without --by, by the identifier that joined the files of a saved model with these facts.
    """
    if sources and by is None:
        by = _column_of(metadata, "joined_by")
    files = opt.study_files(data, sources, by, names_rows)
    assert files is not None, "DATA is required"
    return files


def known_rows(pipeline: Any, metadata: dict[str, Any]) -> KnownRows:
    """Return what recognises the training samples of a saved model with these facts."""
    from mklkit.datasets.pipeline import encoder_in
    from mklkit.datasets.training_digest import KnownRows, from_text

    n_rows = metadata["model"].get("rows")
    ids = from_text(metadata.get("training_ids"))
    return KnownRows(encoder_in(pipeline), ids, n_rows if isinstance(n_rows, int) else 0)


def groups_of(metadata: dict[str, Any]) -> str | None:
    """Return the column in a model file that groups rows; None if there is none."""
    return _column_of(metadata, "groups")


def weights_of(metadata: dict[str, Any]) -> str | None:
    """Return the column in a model file with the sample weights; None if there is none."""
    return _column_of(metadata, "weights")


def _column_of(metadata: dict[str, Any], use: str) -> str | None:
    """Return the column of a use, from facts that may be anything."""
    data = metadata.get("data")
    column = data.get(use) if isinstance(data, dict) else None
    return column if isinstance(column, str) else None


@attrs.define(eq=False)
class Predictions:
    """Predictions chunk by chunk, and the samples that have none because they have no source."""

    task: Task
    pipeline: Any
    top: int | None
    n_rows: int = 0
    without: list[Any] = attrs.field(factory=list)
    """The samples without a prediction: their identifiers, or numbers from 1."""
    columns: pd.DataFrame | None = None
    """The written columns, without samples."""

    def of(
        self, features: pd.DataFrame, ids: pd.Series | None = None
    ) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
        """Return the table of more rows, and which of them have a prediction (n,).

        The cells of others are empty. Raise an error if the first samples have none at all.
        """
        import numpy as np

        from mklkit.errors import NoSourceError

        known = np.ones(len(features), bool)
        table = self.columns
        # Each pass leaves some samples out, since the models of a vote may have other kernels.
        while known.any():
            try:
                table = self._table(features[known])
                break
            except NoSourceError as error:
                none = np.asarray(error.none)
                if (table is None and none.all()) or len(none) != known.sum():
                    raise
                known[np.flatnonzero(known)[none]] = False
        assert table is not None, "the first samples have predictions"
        self.columns = table[:0]
        if not known.all():
            table = _with_empty_rows(table, known)
            numbers = self.n_rows + 1 + np.flatnonzero(~known)
            self.without += (numbers if ids is None else ids.to_numpy()[~known]).tolist()
        self.n_rows += len(features)
        return table, known

    def _table(self, features: pd.DataFrame) -> pd.DataFrame:
        if self.top is None:
            return self.task.predictions(self.pipeline, features)
        return self.task.likeliest(self.pipeline, features, self.top)

    def say(self) -> None:
        """Report how many samples have no prediction, and why."""
        if self.without:
            from mklkit.errors import listed

            rows, few = counted(len(self.without), "sample"), len(self.without) == 1
            say(
                f"{rows} of {self.n_rows} {'has' if few else 'have'} no prediction, because"
                f" {'it has' if few else 'they have'} no value in the columns of any kernel:"
                f" {'sample' if few else 'samples'} {listed(self.without)}"
            )


def _with_empty_rows(table: pd.DataFrame, known: NDArray[np.bool_]) -> pd.DataFrame:
    """Return a table of the known rows with empty cells in the others, in the order of all."""
    import numpy as np

    # Whole numbers and truth values would become floats.
    nullable = {"i": "Int64", "u": "UInt64", "b": "boolean"}
    kinds = {
        name: nullable[kind.kind] for name, kind in table.dtypes.items() if kind.kind in nullable
    }
    table = table.astype(kinds).set_axis(np.flatnonzero(known))
    return table.reindex(range(len(known)))


@attrs.define(eq=False)
class Findings:
    """Oddities in new samples, counted chunk by chunk and reported once."""

    pipeline: Any
    encoder: TableEncoder | None = attrs.field()
    looked_up: Counter[str] = attrs.field(factory=Counter)
    """The samples whose identifiers each kernel on sample ids knows."""
    rows: Counter[str] = attrs.field(factory=Counter)
    unknown: dict[str, dict[str, None]] = attrs.field(factory=dict)
    """By text column, the values that were not in the training data, in order of appearance."""
    far: dict[str, tuple[int, float, float]] = attrs.field(factory=dict)
    """Count, smallest and largest value of columns wholly outside the training data."""
    near: set[str] = attrs.field(factory=set)
    shifts: ColumnShifts = attrs.field()

    @encoder.default
    def _first_step(self) -> TableEncoder | None:
        from mklkit.datasets.pipeline import encoder_in

        return encoder_in(self.pipeline)

    @shifts.default
    def _no_shifts(self) -> ColumnShifts:
        from mklkit.evaluation.shifts import ColumnShifts

        return ColumnShifts.of(self.encoder)

    def add(self, features: pd.DataFrame) -> None:
        """Look at more samples."""
        import numpy as np
        import pandas as pd

        from mklkit.datasets.pipeline import n_looked_up

        self.looked_up.update(n_looked_up(self.pipeline, features))
        self.shifts.add(features)
        for name, values in [] if self.encoder is None else self.encoder.unseen_values(features):
            self.rows[name] += len(values)
            known = self.unknown.setdefault(name, {})
            if len(known) < VALUES_KEPT:
                known.update(dict.fromkeys(values))
        for name, low, high in self._ranges():
            if name not in features or low == high or name in self.near:
                continue
            column = pd.to_numeric(features[name], errors="coerce").dropna()
            numbers = column.to_numpy(float)
            reach = high - low
            if not ((numbers < low - reach) | (numbers > high + reach)).all():
                self.near.add(name)
            elif len(numbers):
                count, least, most = self.far.get(name, (0, np.inf, -np.inf))
                bounds = min(least, numbers.min()), max(most, numbers.max())
                self.far[name] = (count + len(numbers), *bounds)

    def say(self, gross: bool = False) -> None:
        """Report them by column, and the shifts or ``gross`` shifts of the others."""
        from mklkit.datasets.pipeline import inputs_of_kernels

        for label, count in self.looked_up.items():
            if not count:
                say(
                    f"no sample has the source {quoted(label)}: none of their identifiers is in its"
                    " matrix"
                )
        for name, values in self.unknown.items():
            if values:
                shown = ", ".join(repr(value) for value in list(values)[:VALUES_SHOWN])
                more = len(values) - VALUES_SHOWN
                rest = f" and {more} more" if more > 0 else ""
                rows = counted(self.rows[name], "sample")
                say(f"column {name!r}: not in the training data, in {rows}: {shown}{rest}")
        for name, low, high in self._ranges():
            if name in self.far and name not in self.near:
                count, least, most = self.far[name]
                say(
                    f"column {quoted(name)}: {counted(count, 'value')} from"
                    f" {extent(least, most)}, all far outside the training data"
                    f" ({extent(low, high)}); same units?"
                )
        out = {*self.far} - self.near
        for sentence in self.shifts.sentences(inputs_of_kernels(self.pipeline), gross, out):
            say(sentence)

    def _ranges(self) -> Iterator[tuple[str, float, float]]:
        """Yield the numeric columns with their ranges in training."""
        import numpy as np

        encoder = self.encoder
        # A model file may have been altered, and its trial at loading does not ask for ranges.
        if encoder is not None and np.shape(encoder.ranges_) == (2, len(encoder.numeric_)):
            for name, (low, high) in zip(encoder.numeric_, encoder.ranges_.T, strict=True):
                yield name, low, high


@attrs.define(eq=False)
class Tally:
    """Counts of the pairs of known targets and their predictions."""

    task: Task
    names: list[str] = attrs.field(factory=list)
    n_targets: int = 0
    counts: list[pd.Series] = attrs.field(factory=list)

    def add(self, targets: pd.DataFrame, predictions: pd.DataFrame) -> None:
        """Count the pairs of more samples."""
        import numpy as np
        import pandas as pd

        self.names = [str(name) for name in targets]
        known = targets.notna().all(axis=1)
        if known.any():
            self.task.check_scored(targets[known])
        truth, guess = self.task.comparable(targets), self.task.predicted(predictions)
        self.n_targets = 1 if truth.ndim == 1 else truth.shape[1]
        pairs = pd.DataFrame(np.column_stack([truth, guess]), dtype=truth.dtype)
        self.counts.append(pairs.value_counts())

    def say(self) -> None:
        """Print the scores, if the data have the columns of targets."""
        import numpy as np
        import pandas as pd

        from mklkit.errors import listed
        from mklkit.evaluation.cohort import OF_CLASSES, has_one_class

        if not self.names:
            return
        together = pd.concat(self.counts)
        levels = list(range(together.index.nlevels))
        counts = together.groupby(level=levels).sum()
        pairs = counts.index.to_frame().to_numpy()
        truth, guess = (
            part[:, 0] if part.shape[1] == 1 else part
            for part in np.split(pairs, [self.n_targets], axis=1)
        )
        if len(counts) == 0 or not self.task.is_scorable(truth):
            say(f"column {listed(self.names)} has none of the model's {self.task.plural}: no score")
            return
        score = self.task.score(truth, guess, counts=counts.to_numpy())
        words = {
            known.key: f"{known.words} {known.written(score[known.key])}"
            for known in self.task.labeled
        }
        baseline = f"; {words['baseline']}"
        undefined = {"baseline"}
        if has_one_class(self.task, truth):
            undefined = {*OF_CLASSES}
            baseline = f", which are all of the class {quoted(str(truth[0]))}"
        reached = ", ".join(text for key, text in words.items() if key not in undefined)
        rows = counted(score["rows"], "sample")
        say(f"{reached} on the {rows} with {listed(self.names)} given{baseline}")


@contextmanager
def _warnings_once() -> Iterator[None]:
    """Hold back warnings, and issue one for each column or other subject at the end."""
    subjects: dict[str, tuple[warnings.WarningMessage, int]] = {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    finally:
        for warning in caught:
            # "column 'x' holds 'abc' in sample 7, not a number": the sample differs by chunk.
            subject = str(warning.message).partition(" holds ")[0]
            first, count = subjects.get(subject, (warning, 0))
            subjects[subject] = first, count + 1
        for first, count in subjects.values():
            text = str(first.message)
            if count > 1 and " holds " in text:
                text += f" (and so on: in {count} parts of the data)"
            warnings.warn_explicit(text, first.category, first.filename, first.lineno)
