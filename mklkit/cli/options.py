"""The arguments and options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mklkit.cli.completion import completers as complete
from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME

__all__ = [
    "BUILT_IN",
    "AsJson",
    "Bandwidths",
    "BandwidthsOption",
    "ClassWeight",
    "Combiner",
    "Data",
    "Drop",
    "FeatureMap",
    "Jobs",
    "Kernels",
    "Learner",
    "MaxMemory",
    "ModelFile",
    "Multiclass",
    "MulticlassOption",
    "Preset",
    "Probability",
    "Scale",
    "ScaleOption",
    "Scheduler",
    "Seed",
    "Stream",
    "Target",
    "Tune",
    "Weights",
    "file_path",
    "output_path",
    "results_path",
]

BUILT_IN = ", ".join(BUILTIN_NAMES)
# NumPy's generators take seeds of 32 bits.
LARGEST_SEED = 2**32 - 1
MODEL_PANEL = "Model"
DATA_PANEL = "Data"


class Task(StrEnum):
    """What is learned."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Multiclass(StrEnum):
    """How several classes are divided into binary problems."""

    ovo = "ovo"
    ovr = "ovr"
    native = "native"


class Bandwidths(StrEnum):
    """The rows from which kernels compute their bandwidths."""

    per_problem = "per-problem"
    all_rows = "all-rows"


class Scale(StrEnum):
    """How features are scaled."""

    standard = "standard"
    minmax = "minmax"
    none = "none"


def _not_zero(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 would do nothing; give a number from 1, or -1 for all.")
    return jobs


def _not_blank(spec: str | None) -> str | None:
    if spec is not None and not spec.strip():
        raise typer.BadParameter("a name is expected, as 'mklkit list' shows them.")
    return spec


def _memory(size: str | None) -> str | None:
    from mklkit.errors import MKLKitError
    from mklkit.views.memory import memory_limit

    try:
        # A number alone is one of bytes.
        memory_limit(size)
    except MKLKitError as error:
        raise typer.BadParameter(str(error)) from error
    return size


def _effort(tune: str | None) -> str | None:
    if tune is not None:
        from mklkit.errors import MKLKitError
        from mklkit.estimators.grids import check_effort

        try:
            check_effort(tune)
        except MKLKitError as error:
            raise typer.BadParameter(str(error)) from error
    return tune


def _class_weight(text: str | None) -> str | None:
    if text is not None:
        weights_by_class(text)
    return text


def weights_by_class(text: str) -> str | dict[str, float]:
    """Return ``balanced``, or the weight of each class of ``ill=5,well=1``.

    Examples
    --------
    >>> weights_by_class("ill=5, well=1")
    {'ill': 5.0, 'well': 1.0}
    """
    if text.strip() == "balanced":
        return "balanced"
    weights: dict[str, float] = {}
    for pair in text.split(","):
        label, equals, weight = (part.strip() for part in pair.rpartition("="))
        if label in weights:
            raise typer.BadParameter(f"class {label!r:.80} has two weights: give it one.")
        try:
            weights[label] = float(weight)
        except ValueError:
            equals = ""
        if not equals:
            raise typer.BadParameter(
                f"expected 'balanced', or classes with their weights such as 'ill=5,well=1';"
                f" got {text!r:.80}."
            )
    return weights


def file_path(text: str) -> Path:
    """Return an option's path; an empty text, which would mean the current folder, is refused."""
    if not text:
        raise typer.BadParameter("the name of a file or folder is expected, not an empty text.")
    return Path(text)


def output_path(text: str) -> Path:
    """Return the path of a binary file to write, which cannot go to stdout."""
    if text == "-":
        raise typer.BadParameter(
            "it can't be written to stdout; give the name of a file (./- for one called '-')."
        )
    return file_path(text)


def results_path(text: str) -> Path | None:
    """Return the path of a file for results, None for ``-`` (stdout)."""
    return None if text == "-" else file_path(text)


Data = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        autocompletion=complete.data_sets,
        show_default=f"{DEFAULT_NAME}, built into scikit-learn",
        help=f"A built-in data set ({BUILT_IN}) or a file: .csv (.gz), .tsv, .parquet, .arff,"
        " .libsvm, .npz. 'fit' also takes a folder or a glob of CSV or Parquet files.",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", parser=file_path, help="A model file that 'mklkit fit -o' wrote."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        autocompletion=complete.table_columns,
        show_default="'target', else the last column",
        help="The column to predict, by name or position (-1 is the last).",
        rich_help_panel=DATA_PANEL,
    ),
]
TaskOption = Annotated[
    Task,
    typer.Option(
        "--task",
        help="Whether the target holds classes or numbers; auto: numbers if they have fractions, or"
        " are many different whole ones.",
        rich_help_panel=DATA_PANEL,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        autocompletion=complete.feature_columns,
        help="A column to leave out, by name, glob ('lab_*') or position. Repeat for several.",
        rich_help_panel=DATA_PANEL,
    ),
]
ScaleOption = Annotated[
    Scale | None,
    typer.Option(
        show_default="the preset's, else standard",
        help="How features are scaled; minmax is to \\[-1, 1].",
        rich_help_panel=DATA_PANEL,
    ),
]
Kernels = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel",
        "--kernels",
        "-k",
        metavar="SPEC",
        autocompletion=complete.kernels,
        show_default="cosine(linear), rbf, cosine(polynomial)",
        help="A kernel, optionally with a name and columns: \"rbf(sigma='mean')\","
        ' "shape:linear@fou_*". Repeat for several. auto: kernels proposed from the training rows.',
        rich_help_panel=MODEL_PANEL,
    ),
]
FeatureMap = Annotated[
    str | None,
    typer.Option(
        "--feature-map",
        "--map",
        "-m",
        metavar="SPEC",
        autocompletion=complete.feature_maps,
        callback=_not_blank,
        show_default="the combiner's own",
        help='The map from kernels to columns: implicit, "empirical(subset=0.1)", fourier.',
        rich_help_panel=MODEL_PANEL,
    ),
]
Combiner = Annotated[
    str | None,
    typer.Option(
        "--combiner",
        "-c",
        metavar="SPEC",
        autocompletion=complete.combiners,
        callback=_not_blank,
        show_default="uniform",
        help="How kernels are joined; see 'mklkit list combiners'.",
        rich_help_panel=MODEL_PANEL,
    ),
]
Learner = Annotated[
    str | None,
    typer.Option(
        "--learner",
        "-l",
        metavar="SPEC",
        autocompletion=complete.learners,
        callback=_not_blank,
        show_default="the combiner's own",
        help='The learner: "svm(C=10)", mhks, kmhks.',
        rich_help_panel=MODEL_PANEL,
    ),
]
MulticlassOption = Annotated[
    Multiclass,
    typer.Option(
        help="For several classes: one-vs-one, one-vs-rest, or all at once (native), if combiner"
        " and learner support it.",
        rich_help_panel=MODEL_PANEL,
    ),
]
BandwidthsOption = Annotated[
    Bandwidths,
    typer.Option(
        help="For several classes, one-vs-one: compute bandwidths such as sigma='mean' from each"
        " pair of classes, or from all training rows.",
        rich_help_panel=MODEL_PANEL,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        "-p",
        metavar="NAME",
        autocompletion=complete.presets,
        help="A named choice of --kernel, --feature-map, --combiner, --learner and --scale; each"
        " of these options overrides it. See 'mklkit list presets'.",
        rich_help_panel=MODEL_PANEL,
    ),
]
Tune = Annotated[
    str | None,
    typer.Option(
        "--tune",
        metavar="fast|thorough|N",
        autocompletion=complete.efforts,
        callback=_effort,
        show_default="not tuned",
        help="Choose parameters by cross-validation on the training rows, from the components' own"
        " search spaces: a few values of each, all of them, or N combinations at random.",
        rich_help_panel=MODEL_PANEL,
    ),
]
Probability = Annotated[
    bool,
    typer.Option(
        "--probability",
        help="Calibrate a probability of each class by cross-validation on the training rows, five"
        " fits more; 'mklkit predict' then writes a column for each.",
        rich_help_panel=MODEL_PANEL,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="balanced|CLASS=WEIGHT,...",
        autocompletion=complete.balanced,
        callback=_class_weight,
        show_default="all classes weigh 1",
        help="How much the rows of each class count in the fit: balanced, so that rare classes"
        ' count as much as frequent ones, or "ill=5,well=1".',
        rich_help_panel=MODEL_PANEL,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="COLUMN",
        autocompletion=complete.feature_columns,
        help="A column that says how much each row counts in the fit, by name or position. It is"
        " no feature; scores take all rows alike.",
        rich_help_panel=DATA_PANEL,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of all random numbers.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        callback=_not_zero,
        help="Binary problems fitted in parallel; -1: one per processor.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        callback=_memory,
        show_default="half of what is free",
        help="The memory to use, such as 4GB or 500MB. Of larger tables (CSV, Parquet) only parts"
        " are in memory at a time.",
        rich_help_panel=DATA_PANEL,
    ),
]
Stream = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Read the table (CSV, Parquet) in parts even if it fits into memory.",
        rich_help_panel=DATA_PANEL,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Fit on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786. The table (CSV,"
        " Parquet) is read in parts here, and its encoded rows are sent to them.",
        rich_help_panel=DATA_PANEL,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
