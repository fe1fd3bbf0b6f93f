"""The arguments and options that commands share, and what is wrong with their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mklkit.cli.completion import completers as complete
from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME

BUILT_IN = ", ".join(BUILTIN_NAMES)
# NumPy's generators take seeds of 32 bits.
LARGEST_SEED = 2**32 - 1
data_option = partial(typer.Option, rich_help_panel="Data")
model_option = partial(typer.Option, rich_help_panel="Model")


def _checked(check: Callable[[Any], object]) -> Callable[[Any], Any]:
    """Return a callback that refuses an option's value where a check of the library does."""

    def refuse(value: Any) -> Any:
        from mklkit.errors import MKLKitError

        if value is not None:
            try:
                check(value)
            except MKLKitError as error:
                raise typer.BadParameter(str(error)) from error
        return value

    return refuse


def _not_zero(jobs: int) -> None:
    if jobs == 0:
        raise typer.BadParameter("0 would do nothing; give a number from 1, or -1 for all.")


def _not_blank(spec: str) -> None:
    if not spec.strip():
        raise typer.BadParameter("a name is expected, as 'mklkit list' shows them.")


def _memory(size: str) -> None:
    from mklkit.views.memory import memory_limit

    memory_limit(size)  # A number alone is one of bytes.


def _effort(tune: str) -> None:
    from mklkit.estimators.grids import check_effort

    check_effort(tune)


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
        label, _, weight = (part.strip() for part in pair.rpartition("="))
        if label in weights:
            raise typer.BadParameter(f"class {label!r:.80} has two weights: give it one.")
        try:
            weights[label] = float(weight)
        except ValueError:
            label = ""
        if not label:
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
    data_option(
        "--target",
        "-t",
        metavar="COLUMN",
        autocompletion=complete.table_columns,
        show_default="'target', else the last column",
        help="The column to predict, by name or position (-1 is the last).",
    ),
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    data_option(
        "--task",
        help="Whether the target holds classes or numbers; auto: numbers if they have fractions, or"
        " are many different whole ones.",
    ),
]
Drop = Annotated[
    list[str] | None,
    data_option(
        "--drop",
        metavar="COLUMN",
        autocompletion=complete.feature_columns,
        help="A column to leave out, by name, glob ('lab_*') or position. Repeat for several.",
    ),
]
Scale = Annotated[
    Literal["standard", "minmax", "none"] | None,
    data_option(
        show_default="the preset's, else standard",
        help="How features are scaled; minmax is to \\[-1, 1].",
    ),
]
Kernels = Annotated[
    list[str] | None,
    model_option(
        "--kernel",
        "--kernels",
        "-k",
        metavar="SPEC",
        autocompletion=complete.kernels,
        show_default="cosine(linear), rbf, cosine(polynomial)",
        help="A kernel, optionally with a name and columns: \"rbf(sigma='mean')\","
        ' "shape:linear@fou_*". Repeat for several. auto: kernels proposed from the training rows.',
    ),
]
FeatureMap = Annotated[
    str | None,
    model_option(
        "--feature-map",
        "--map",
        "-m",
        metavar="SPEC",
        autocompletion=complete.feature_maps,
        callback=_checked(_not_blank),
        show_default="the combiner's own",
        help='The map from kernels to columns: implicit, "empirical(subset=0.1)", fourier.',
    ),
]
Combiner = Annotated[
    str | None,
    model_option(
        "--combiner",
        "-c",
        metavar="SPEC",
        autocompletion=complete.combiners,
        callback=_checked(_not_blank),
        show_default="uniform",
        help="How kernels are joined; see 'mklkit list combiners'.",
    ),
]
Learner = Annotated[
    str | None,
    model_option(
        "--learner",
        "-l",
        metavar="SPEC",
        autocompletion=complete.learners,
        callback=_checked(_not_blank),
        show_default="the combiner's own",
        help='The learner: "svm(C=10)", mhks, kmhks.',
    ),
]
Multiclass = Annotated[
    Literal["ovo", "ovr", "native"],
    model_option(
        help="For several classes: one-vs-one, one-vs-rest, or all at once (native), if combiner"
        " and learner support it.",
    ),
]
Bandwidths = Annotated[
    Literal["per-problem", "all-rows"],
    model_option(
        help="For several classes, one-vs-one: compute bandwidths such as sigma='mean' from each"
        " pair of classes, or from all training rows.",
    ),
]
Preset = Annotated[
    str | None,
    model_option(
        "--preset",
        "-p",
        metavar="NAME",
        autocompletion=complete.presets,
        help="A named choice of --kernel, --feature-map, --combiner, --learner and --scale; each"
        " of these options overrides it. See 'mklkit list presets'.",
    ),
]
Tune = Annotated[
    str | None,
    model_option(
        "--tune",
        metavar="fast|thorough|N",
        autocompletion=complete.efforts,
        callback=_checked(_effort),
        show_default="not tuned",
        help="Choose parameters by cross-validation on the training rows, from the components' own"
        " search spaces: a few values of each, all of them, or N combinations at random.",
    ),
]
Probability = Annotated[
    bool,
    model_option(
        "--probability",
        help="Calibrate a probability of each class by cross-validation on the training rows, five"
        " fits more; 'mklkit predict' then writes a column for each.",
    ),
]
ClassWeight = Annotated[
    str | None,
    model_option(
        "--class-weight",
        metavar="balanced|CLASS=WEIGHT,...",
        autocompletion=complete.balanced,
        callback=_checked(weights_by_class),
        show_default="all classes weigh 1",
        help="How much the rows of each class count in the fit: balanced, so that rare classes"
        ' count as much as frequent ones, or "ill=5,well=1".',
    ),
]
Weights = Annotated[
    str | None,
    data_option(
        "--weights",
        metavar="COLUMN",
        autocompletion=complete.feature_columns,
        help="A column that says how much each row counts in the fit, by name or position. It is"
        " no feature; scores take all rows alike.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of all random numbers.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        callback=_checked(_not_zero),
        help="Binary problems fitted in parallel; -1: one per processor.",
    ),
]
MaxMemory = Annotated[
    str | None,
    data_option(
        "--max-memory",
        metavar="SIZE",
        callback=_checked(_memory),
        show_default="half of what is free",
        help="The memory to use, such as 4GB or 500MB. Of larger tables (CSV, Parquet) only parts"
        " are in memory at a time.",
    ),
]
Stream = Annotated[
    bool,
    data_option(
        "--stream",
        help="Read the table (CSV, Parquet) in parts even if it fits into memory.",
    ),
]
Scheduler = Annotated[
    str | None,
    data_option(
        "--scheduler",
        metavar="ADDRESS",
        help="Fit on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786. The table (CSV,"
        " Parquet) is read in parts here, and its encoded rows are sent to them.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
