"""The version, from the installed distribution's own record."""

from importlib.metadata import version

__version__ = version("mklkit")
