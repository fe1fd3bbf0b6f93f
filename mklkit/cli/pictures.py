"""``--plot``: a figure, written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["check_picture", "draw", "draw_weights"]

FORMATS = (".png", ".pdf", ".svg")


def check_picture(path: Path, others: Mapping[str, str | PathLike[str] | None]) -> None:
    """Make sure that a figure can be drawn and written, before the model is fitted.

    Parameters
    ----------
    path : Path
    others : mapping of str to path
        Files that the figure must not replace, by a description of their contents.

    Raises
    ------
    MKLKitError
        If the name has another ending, is one of the other files, or cannot be written; if
        matplotlib is not installed.
    """
    from mklkit.datasets.paths import same_file
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable
    from mklkit.plotting.parts import require_matplotlib

    if path.suffix.lower() not in FORMATS:
        raise DataError(f"A picture's name must end in {', '.join(FORMATS)}; got {path}.")
    for content, file in others.items():
        # The name of a built-in data set is not a file, which is harmless.
        if file is not None and same_file(path, Path(file)):
            raise DataError(f"{path} is the file of {content}; choose another name for the plot.")
    check_writable(path)
    require_matplotlib()


def draw_weights(path: Path, estimator: Any) -> None:
    """Write the figure of a fitted estimator's kernel weights."""
    from mklkit.plotting.weights import KernelWeightsDisplay

    draw(path, lambda: KernelWeightsDisplay.from_estimator(estimator))


def draw(path: Path, display: Callable[[], Any]) -> None:
    """Write the figure of a display, which is drawn when no window can open any more."""
    import matplotlib

    # Only files are drawn: no display is needed.
    matplotlib.use("Agg")
    from mklkit.persistence.atomic import replacing

    figure = display().figure_
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)
