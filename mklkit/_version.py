"""The version, from the installed distribution's own record."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("mklkit")
