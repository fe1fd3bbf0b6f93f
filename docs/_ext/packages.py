"""Check that the packages in ``plugins/`` are installed, before Sphinx reads what needs them.

The reference has a page for each component, pages link to those of the packages, and pictures of
the gallery import them.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PLUGINS = Path(__file__).parents[2] / "plugins"


def absent() -> list[str]:
    """Return the names of the packages in ``plugins/`` that are not installed."""
    names = sorted(path.parent.name for path in PLUGINS.glob("*/pyproject.toml"))
    if not names:
        raise SystemExit(
            "The pages are built from a checkout of the repository: a source distribution does not"
            " contain the packages in plugins/, which the pages need."
        )
    return [name for name in names if not is_installed(name)]


def is_installed(name: str) -> bool:
    """Return whether a distribution is installed, with the entry points of its components."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def setup(app: Sphinx) -> dict[str, bool]:
    """Stop the build if a package is missing; Sphinx shows its own errors with a traceback."""
    if names := absent():
        raise SystemExit(
            "The pages need all packages in plugins/, and these are not installed:"
            f" {', '.join(names)}. Install them with: pip install ./plugins/*/"
        )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
