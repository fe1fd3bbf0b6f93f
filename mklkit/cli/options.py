"""The arguments and options that commands share, and what is wrong with their values."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from mklkit.cli.completion import completers as complete
from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME

BUILT_IN = ", ".join(BUILTIN_NAMES)
# NumPy's generators take seeds of 32 bits.
LARGEST_SEED = 2**32 - 1


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


data_option = partial(typer.Option, rich_help_panel="Data")
model_option = partial(typer.Option, rich_help_panel="Model")
output_option = partial(typer.Option, metavar="FILE", parser=output_path)

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
        help="Whether the target holds classes or numbers; auto: numbers if they have fractions, or"
        " are many different whole ones.",
    ),
]
Drop = Annotated[
    list[str] | None,
    data_option(
        metavar="COLUMN",
        autocompletion=complete.feature_columns,
        help="A column to leave out, by name, glob ('lab_*') or position. Repeat for several.",
    ),
]
Weights = Annotated[
    str | None,
    data_option(
        metavar="COLUMN",
        autocompletion=complete.feature_columns,
        help="A column that says how much each row counts in the fit, by name or position. It is"
        " no feature; scores take all rows alike.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of all random numbers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
