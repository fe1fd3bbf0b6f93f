"""The user's folders for settings, data and caches, as the XDG specification has them."""

from __future__ import annotations

import os
from pathlib import Path

from mklkit.errors import DataError

__all__ = ["base_folder", "home_folder"]


def home_folder() -> Path:
    """Return the user's home.

    Raises
    ------
    DataError
        If neither ``HOME`` nor the system's list of users names it.
    """
    try:
        return Path.home()
    except RuntimeError as error:
        raise DataError(
            "The home folder is not known: HOME is not set, and the system has no entry for this"
            " user. Set HOME to a folder that can be written to."
        ) from error


def base_folder(variable: str, *usual: str) -> Path:
    """Return the folder that a variable names, else one below the user's home.

    Parameters
    ----------
    variable : str
        Such as ``"XDG_CACHE_HOME"``; a relative path in it is ignored, as the specification says.
    *usual : str
        The parts of the path below home.

    Raises
    ------
    DataError
        If the home is needed and not known.
    """
    given = Path(os.environ.get(variable, ""))
    return given if given.is_absolute() else home_folder().joinpath(*usual)
