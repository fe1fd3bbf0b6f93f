"""The matrices that ``mklkit kernels -o`` writes, also of a saved model and of new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import typer

from mklkit.cli import options as opt
from mklkit.cli.console import say, working

if TYPE_CHECKING:
    from mklkit.datasets import Table
    from mklkit.datasets.study_files import StudyFiles
    from mklkit.estimators.model_settings import ModelSettings
    from mklkit.evaluation.alignment import FittedBank
    from mklkit.evaluation.matrices import KernelMatrices


@attrs.frozen(eq=False)
class SavedKernels:
    """The kernels of a saved model, what is done to columns before, and the weights."""

    kernels: list[Any]
    steps: Any
    weights: Any
    target: str | None

    @classmethod
    def of(cls, path: Path, settings: ModelSettings) -> SavedKernels:
        """Return those of a model file; raise an error if options name other ones."""
        from mklkit.cli.predict import columns_of
        from mklkit.errors import ModelFileError
        from mklkit.estimators.introspection import KernelModel, column_names, split
        from mklkit.evaluation.matrices import weights_of_model
        from mklkit.persistence import load_model, read_metadata
        from mklkit.persistence.metadata import targets_of
        from mklkit.views.scaling import scale_of

        if settings.kernels or settings.preset or settings.scale:
            raise typer.BadParameter(
                "--model has kernels and a scaling: leave out --kernels, --preset and --scale."
            )
        with working("loading the model"):
            model, metadata = load_model(path), read_metadata(path)
        columns_of(model, path)
        steps, inner = split(model)
        if steps is None or not isinstance(inner, KernelModel):
            raise ModelFileError(f"{path} holds no model with kernels that 'mklkit fit' wrote.")
        names = column_names(inner)
        kernels = [
            (
                bound.label,
                bound.kernel,
                None if bound.columns is None else names[bound.columns].tolist(),
                scale_of(bound),
            )
            for bound in inner.bound_kernels_
        ]
        targets = targets_of(metadata)
        return cls(kernels, steps, weights_of_model(model), targets[0] if targets else None)


def new_files_of(
    new: str | None, new_source: list[str] | None, by: str | None, output: Path | None
) -> str | StudyFiles | None:
    """Return the files of new rows, if there are any."""
    if new is None and new_source:
        raise typer.BadParameter("--new-source needs --new, the file that it is joined to.")
    if new is None:
        return None
    if output is None:
        raise typer.BadParameter("--new needs -o FILE, since only matrices have new samples.")
    return opt.study_files(new, new_source, by)


def matrices_of(
    bank: FittedBank,
    weights: Any,
    steps: Any,
    table: Table,
    files: str | StudyFiles | None,
    new_files: str | StudyFiles | None,
) -> KernelMatrices:
    """Return the matrices of all rows of DATA, or of new rows by these."""
    import numpy as np

    from mklkit.datasets.builtin import DEFAULT_NAME
    from mklkit.datasets.new_rows import load_features
    from mklkit.evaluation.matrices import KernelMatrices, check_ids

    count = len(bank.labels)
    weights = np.full(count, 1 / count) if weights is None else weights

    def read(source: str | StudyFiles) -> tuple[Any, list[str]]:
        names, targets = table.features.columns.tolist(), table.target_names
        schema = steps.named_steps["encode"].schema_
        rows = load_features(source, names, targets, names, schema)
        numbers = range(len(rows.features))
        for note in rows.notes:
            say(note)
        ids = [str(label) for label in (numbers if rows.ids is None else rows.ids)]
        check_ids(ids)
        return bank.on(steps.transform(rows.features)), ids

    training, ids = read(files or DEFAULT_NAME)
    if new_files is None:
        return KernelMatrices(bank, weights, training, ids)
    return KernelMatrices(bank, weights, *read(new_files), training, ids)
