"""The arguments and options that commands share, and checks of their values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mklkit.cli.completion import completers as complete
from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME
from mklkit.datasets.formats import ENDINGS, IN_PARTS, WRITABLE, format_of
from mklkit.numerics.seeds import LARGEST_SEED

if TYPE_CHECKING:
    from mklkit.datasets.study_files import StudyFiles

BUILT_IN = ", ".join(BUILTIN_NAMES)


def file_path(text: str) -> Path:
    """Return an option's path; an empty text, which would mean the current folder, is an error."""
    if not text:
        raise typer.BadParameter("expected the name of a file or folder, not an empty text.")
    return Path(text)


def study_files(
    data: str | None, sources: Sequence[str] | None, by: str | None, names_rows: bool = False
) -> str | StudyFiles | None:
    """Return DATA, with its identifiers if --by names them, joined with the files of --source.

    ``names_rows``: without --source, the column of --by names the samples of results alone.
    """
    if not sources and (by is None or names_rows):
        return data
    if data is None or by is None:
        needed = "DATA, the file with the outcomes" if data is None else "--by, the identifier"
        option = "--source" if sources else "--by"
        raise typer.BadParameter(f"{option} needs {needed} to join it by.")
    named = [text.partition("=") for text in sources or ()]
    for (name, _, file), text in zip(named, sources or (), strict=True):
        if not (name and file):
            raise typer.BadParameter(
                f"expected --source NAME=FILE, as in mrna=mrna.csv; got {text!r}."
            )
    files = {name: file for name, _, file in named}
    if len(files) < len(named):
        twice = next(name for name in files if [each[0] for each in named].count(name) > 1)
        raise typer.BadParameter(
            f"two files of --source have the name {twice!r}; give each its own."
        )
    from mklkit.datasets.study_files import StudyFiles

    return StudyFiles(data, files, by)


def output_path(text: str) -> Path:
    """Return the path of a binary file to write, which cannot go to stdout."""
    if text == "-":
        raise typer.BadParameter(
            "it can't be written to stdout; give the name of a file (./- for one called '-')."
        )
    return file_path(text)


def results_path(text: str) -> Path | None:
    """Return the path of a file for results in a format that can be written; None for stdout."""
    if text == "-":
        return None
    path = file_path(text)
    known = format_of(path)
    if known is not None and known.writer is None:
        raise typer.BadParameter(
            f"{known.name} files can be read but not written; give a name that ends in"
            f" {', '.join(WRITABLE)}."
        )
    return path


data_option = partial(typer.Option, rich_help_panel="Data")
model_option = partial(typer.Option, rich_help_panel="Model")
output_option = partial(typer.Option, metavar="FILE", parser=output_path)
column_option = partial(data_option, metavar="COLUMN", autocompletion=complete.feature_columns)

Data = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        autocompletion=complete.data_sets,
        show_default=f"{DEFAULT_NAME}, built into scikit-learn",
        help=f"A built-in data set ({BUILT_IN}) or a file: {', '.join(ENDINGS)}."
        " A layer's name may follow the path, as in cells.h5ad:counts."
        f" 'fit' also takes a folder or a glob of {' or '.join(IN_PARTS)} files.",
    ),
]
Sources = Annotated[
    list[str] | None,
    data_option(
        "--source",
        metavar="NAME=FILE",
        help="Another file of the study, such as mrna=mrna.csv: its samples are joined to those of"
        " DATA by the column that --by names. May be repeated.",
    ),
]
By = Annotated[
    str | None,
    data_option(
        "--by",
        metavar="COLUMN",
        help="The column that identifies a sample in DATA, in every file of --source, and in the"
        " files of precomputed kernels. It is not a feature.",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", parser=file_path, help="A model file that 'mklkit fit -o' wrote."
    ),
]
Target = Annotated[
    list[str] | None,
    data_option(
        "--target",
        "-t",
        metavar="COLUMN",
        autocompletion=complete.table_columns,
        show_default="'target', else the last column",
        help="The column to predict, by name or position (-1 is the last); repeat it for several"
        " numeric targets.",
    ),
]
Task = Annotated[
    str,
    data_option(
        metavar="NAME",
        autocompletion=complete.tasks,
        help="What to predict: classification, regression, outliers (learned without the target,"
        " and scored by it: the rarer of two classes), or a package's task (mklkit list tasks)."
        " auto: regression for numbers with fractions or many distinct values, else"
        " classification.",
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        rich_help_panel="Results",
        metavar="NAME",
        show_default="accuracy (balanced_accuracy if class sizes differ by over 1.5 times); r2 for"
        " numbers, roc_auc for outliers",
        help="The score by which methods are ranked, tuned and tested, as scikit-learn calls"
        " it: balanced_accuracy, roc_auc, neg_log_loss, neg_mean_absolute_error ...",
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        rich_help_panel="Results",
        metavar="TIME",
        help="Start no run after TIME, such as 90s, 10m or 2h, and show the results of the"
        " repetitions so far.",
    ),
]
Margin = Annotated[
    str | None,
    typer.Option(
        "--margin",
        rich_help_panel="Results",
        metavar="SHARE",
        show_default="2%",
        help="The largest difference that does not matter, such as 2% or 0.02: points of scores"
        " that are 1 at best, and a share of the baseline's error for errors.",
    ),
]
Drop = Annotated[
    list[str] | None,
    column_option(
        help="A column to leave out, by name, glob ('lab_*') or position. May be repeated.",
    ),
]
Weights = Annotated[
    str | None,
    column_option(
        help="A column of sample weights in the fit, by name or position. It is not a"
        " feature; scores count all samples equally.",
    ),
]
Groups = Annotated[
    str | None,
    column_option(
        help="A column of groups, such as 'patient': no group is on both sides of a split,"
        " nor of one inside a fit. It is not a feature.",
    ),
]
SplitColumn = Annotated[
    str | None,
    column_option(
        help="A column whose values 'train' and 'test' define the split.",
    ),
]
CV_HELP = (
    "5x10 is five folds, ten times; groups: each group held out once; time:5: five splits in the"
    " order of the samples."
)
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of all random numbers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
