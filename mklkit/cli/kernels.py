"""``mklkit kernels``: the similarity of kernels on given data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import say, show, show_json, working
from mklkit.cli.kernel_matrices import SavedKernels, matrices_of, new_files_of
from mklkit.cli.outputs import check_outputs
from mklkit.cli.tables import data_line
from mklkit.cli.taking_options import takes_model_settings
from mklkit.display.numbers import number
from mklkit.display.terminal import facts_grid, terminal_table
from mklkit.estimators.model_settings import ModelSettings

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.datasets.study_files import StudyFiles
    from mklkit.evaluation.study import Roles, Study

WEAK = 0.5
MOST_ROWS = 5000
"""Samples on which kernels are compared, in seconds; more samples hardly change the alignments."""
MEASURED_ROWS = 1000
"""The same with --measures, which takes eigenvalues and quadratic programs."""


@takes_model_settings("scale", "preset", "kernels")
def kernels(
    data: opt.Data = None,
    *,
    source: opt.Sources = None,
    by: opt.By = None,
    target: opt.Target = None,
    task: opt.Task = "auto",
    drop: opt.Drop = None,
    settings: ModelSettings,
    centered: Annotated[
        bool, typer.Option("--centered", help="Centre the kernels first, K -> HKH.")
    ] = False,
    measures: Annotated[
        bool, typer.Option("--measures", help="Add each kernel's margin, radius, ranks and more.")
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            parser=opt.file_path,
            help="Take the encoding, the kernels and, for -o, their weights from a model file.",
        ),
    ] = None,
    new: Annotated[
        str | None,
        opt.data_option(
            "--new",
            metavar="NEW",
            autocompletion=complete.data_sets,
            help="New samples, for matrices (with -o) of NEW by DATA instead of DATA by DATA.",
        ),
    ] = None,
    new_source: Annotated[
        list[str] | None,
        opt.data_option(
            "--new-source",
            metavar="NAME=FILE",
            help="Another file of NEW, as --source is of DATA. May be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        opt.output_option(
            "--output",
            "-o",
            help="Write the Gram matrix of each kernel and their weighted sum (uniform weights, or"
            " those of --model) with the identifiers of the samples, for example to kernels.npz.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show the alignment of every pair of kernels on the samples of DATA, and near-duplicates.

    Alignment is the cosine of the angle between two Gram matrices: 1 for kernels that differ by a
    factor only. Weakly correlated kernels (alignment between 0 and 0.5) have been found to combine
    best (MultiV-KMHKS, Wang and Chen 2009).

    With -o, the Gram matrices of all samples of DATA, also those without a target, are written to a
    NumPy archive, which 'mklkit fit -k "precomputed(path='kernels.npz', label='rbf')"' reads by the
    identifiers that --by names. Kernels are fitted to the samples with a target.
    """
    from mklkit.datasets.pipeline import advice_on
    from mklkit.evaluation.alignment import FittedBank, alignment_matrix, near_duplicates
    from mklkit.evaluation.measures import kernel_measures
    from mklkit.evaluation.result_tables import measures_result
    from mklkit.evaluation.study import Roles, steps_of
    from mklkit.persistence.atomic import replacing
    from mklkit.views.scaling import scaling_named

    files = opt.study_files(data, source, by)
    new_files = new_files_of(new, new_source, by, output)
    check_outputs([output], [files, new_files], model)
    saved = None if model is None else SavedKernels.of(model, settings)
    roles = Roles(target=target or None, drop=drop or ())
    with working("comparing kernels"):
        compared = Compared.of(settings, files, roles, task, saved)
        study, notes, features = compared.study, compared.notes, compared.features
        table, chosen, scale = study.table, compared.kernels, compared.scale
        most, growth = (MEASURED_ROWS, "cube") if measures else (MOST_ROWS, "square")
        if len(features) > most:
            many = f"{most} samples of {len(features)}, drawn at random"
            notes.append(f"compared on {many}: the time grows with the samples' {growth}")
            features = features.sample(most, random_state=0)
        alignments = alignment_matrix(chosen, features, centered, scale)
        measured = None
        if measures:
            labels = table.target.loc[features.index] if study.task.has_classes else None
            measured = kernel_measures(chosen, features, labels, centered=centered, scale=scale)
    written = ""
    if output is not None:
        with working("writing the matrices"):
            bank = FittedBank.fitted(chosen, compared.features, scale)
            weights = None if saved is None else saved.weights
            matrices = matrices_of(bank, weights, compared.steps, table, files, new_files)
            with replacing(output) as file:
                matrices.write(file)
        written = f"wrote {matrices.summary} to {output}"
    alignments = _without_zeros(alignments, notes)
    duplicates = near_duplicates(alignments)
    when = "" if saved is None else "in training: "
    preprocessing = [
        *(f"{when}{step}" for step in steps_of(table, compared.steps)),
        f"features {scaling_named(scale).words}, unless a kernel says otherwise",
    ]
    advice = advice_on(compared.steps)
    if as_json:
        show_json(
            {
                "data": {**table.metadata(), "notes": notes},
                "preprocessing": preprocessing,
                "advice": advice,
                "centered": centered,
                "kernels": alignments.index.tolist(),
                "alignment": alignments.to_numpy().tolist(),
                "near_duplicates": [
                    {"kernels": pair, "alignment": value} for *pair, value in duplicates
                ],
                "weakly_correlated": _weak_pairs(alignments),
                "measures": None if measured is None else measured.to_dict("index"),
            }
        )
    else:
        _report(table, notes, preprocessing + advice, alignments, centered)
        if measured is not None:
            show(terminal_table(measures_result(measured)))
    for first, second, value in duplicates:
        say(
            f"warning: {first} and {second} are nearly the same on these data"
            f" (alignment {number(value, 3)}); one of them is enough.",
            style="yellow",
        )
    if written:
        say(written)


@attrs.frozen(eq=False)
class Compared:
    """The kernels that are compared, with the table that they read.

    ``steps`` are what is done to columns before, ``features`` the encoded columns.
    """

    study: Study
    steps: Any
    kernels: Any
    scale: str
    features: pd.DataFrame
    notes: list[str]

    @classmethod
    def of(
        cls,
        settings: ModelSettings,
        files: str | StudyFiles | None,
        roles: Roles,
        task: str,
        saved: SavedKernels | None,
    ) -> Compared:
        """Return the kernels of the options, or of a saved model, fitted encoder included."""
        from mklkit.datasets.new_rows import with_missing_sources
        from mklkit.datasets.pipeline import DEFAULT_SCALE
        from mklkit.estimators.from_preset import find_preset
        from mklkit.estimators.proposing import propose_kernels
        from mklkit.estimators.sources import kernels_by_source
        from mklkit.evaluation.study import read_study
        from mklkit.protocols.component import KERNELS
        from mklkit.registry.columns import are_proposed

        if saved is not None:
            settings = attrs.evolve(settings, kernels=saved.kernels)
            roles = attrs.evolve(roles, target=roles.target or saved.target)
        preset = None if settings.preset is None else find_preset(settings.preset)
        study = read_study(settings, files, roles, task)
        table, notes = study.table, list(study.notes)
        scale = settings.scale or (preset and preset.scale) or DEFAULT_SCALE
        if saved is not None:
            encoder = saved.steps.named_steps["encode"]
            complete, absent = with_missing_sources(
                table.name, table.features, encoder.feature_names_in_.tolist(), encoder.schema_
            )
            study = attrs.evolve(study, table=attrs.evolve(table, features=complete))
            notes += absent
            features = saved.steps.transform(complete)
            return cls(study, saved.steps, saved.kernels, scale, features, notes)
        steps = study.pipeline[:-1]
        features = steps.fit_transform(table.features)
        named = study.settings.kernels if settings.kernels or table.sources else None
        chosen: Any = named or (preset and preset.kernels) or KERNELS
        if chosen is KERNELS:
            chosen = kernels_by_source(features) or KERNELS
        if are_proposed(chosen):
            bank = propose_kernels(features, table.target, chosen, study.task.kinds[0])
            chosen = [(k.label, k.kernel, k.columns, k.scale) for k in bank.kernels]
            notes += bank.notes
        return cls(study, steps, chosen, scale, features, notes)


def _without_zeros(alignments: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return alignments without those of kernels that are 0 on all samples, and note these."""
    from mklkit.errors import listed

    zero = alignments.to_numpy().diagonal() == 0
    if not zero.any():
        return alignments
    notes.append(
        f"no alignment of {listed(alignments.index[zero].tolist())}: no sample has a value in the"
        " columns of the kernel, or all samples are alike in them"
    )
    return alignments.mask(zero[:, None] | zero)


def _weak_pairs(alignments: pd.DataFrame) -> list[list[str]]:
    """Return the pairs with an alignment above 0 and below 0.5."""
    from itertools import combinations

    names, values = alignments.index.tolist(), alignments.to_numpy(dtype=float)
    pairs = combinations(range(len(names)), 2)
    return [[names[i], names[j]] for i, j in pairs if 0 < values[i, j] < WEAK]


def _report(
    table: Any, notes: list[str], steps: list[str], alignments: pd.DataFrame, centered: bool
) -> None:
    from mklkit.evaluation.result_tables import alignment_result

    shown = "centred alignment" if centered else "alignment"
    metadata = facts_grid([data_line(table, notes), ("steps", steps), ("shown", shown)])
    show(metadata, terminal_table(alignment_result(alignments)))
    pairs = "; ".join(f"{first} with {second}" for first, second in _weak_pairs(alignments))
    below = f"with alignment below {WEAK}"
    best = "(such pairs often combine best)"
    show(f"Pairs {below} {best}: {pairs}" if pairs else f"No pairs {below} {best}.")
    if not centered:
        show(
            "kernels without negative values, such as rbf, almost always have high alignments;"
            " --centered removes what they share, as 'explain' does"
        )
