"""Output files: checked before anything is computed, and written completely or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklkit.cli.console import plain, working
from mklkit.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.datasets.study_files import StudyFiles

PICTURES = (".png", ".pdf", ".svg")
Write = Callable[["pd.DataFrame"], None]


def check_outputs(
    outputs: Sequence[Path | None],
    data: Sequence[str | StudyFiles | None],
    model: Path | None = None,
    pictures: Sequence[Path | None] = (),
) -> None:
    """Reject files that can't be written, that a command reads, or that are one file twice.

    ``data`` is as typed; ``model`` is read; ``pictures`` need matplotlib.
    """
    paths = [path for path in (*outputs, *pictures) if path is not None]
    if not paths:
        return
    from mklkit.datasets.builtin import BUILTIN_NAMES
    from mklkit.datasets.files import files_of
    from mklkit.datasets.paths import same_file
    from mklkit.datasets.study_files import StudyFiles
    from mklkit.persistence.atomic import check_writable

    for picture in filter(None, pictures):
        from mklkit.plotting.parts import require_matplotlib

        if picture.suffix.lower() not in PICTURES:
            raise DataError(f"A picture's name must end in {', '.join(PICTURES)}; got {picture}.")
        require_matplotlib()
    named = [each.files if isinstance(each, StudyFiles) else [each] for each in data]
    every = [name for files in named for name in files]
    sources = [name for name in every if name is not None and name not in BUILTIN_NAMES]
    inputs = [(file, "the data") for name in sources for file in files_of(name)]
    inputs += [] if model is None else [(model, "the model")]
    for path in paths:
        check_writable(path)
        for file, contents in inputs:
            if same_file(path, file):
                raise DataError(f"{path} holds {contents}; choose another name for the file.")
    for first, second in combinations(paths, 2):
        if same_file(first, second):
            raise DataError(f"{first} and {second} are the same file; choose another name.")


def draw(path: Path, display: Callable[[], Any]) -> None:
    """Write the figure of a display, drawn without opening a window."""
    import matplotlib

    # Figures go to files only, so no screen is needed.
    matplotlib.use("Agg")
    from mklkit.persistence.atomic import replacing

    with working("drawing"), replacing(path) as file:
        figure = display().figure_
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)


@contextmanager
def results_file(output: Path | None) -> Iterator[Write]:
    """Yield a function that writes more rows to a file or stdout.

    The format is that of the file's extension, CSV if it is unknown. The file
    appears, or replaces an older one, only when all rows have been written.
    """
    from mklkit.datasets.csv_file import writing
    from mklkit.datasets.formats import format_of, imported
    from mklkit.persistence.atomic import replacing

    if output is None:
        # UTF-8 like the file, whatever the terminal's encoding.
        with writing(sys.stdout.buffer, shown=plain if sys.stdout.isatty() else str) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    known = format_of(output)
    opened = imported(known.writer) if known is not None and known.writer else writing
    with replacing(output) as file, opened(file, output.name) as write:
        yield write
