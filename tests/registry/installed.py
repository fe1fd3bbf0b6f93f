"""Plugins as they look once installed, and Python processes that find them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from helpers.processes import on_path

from mklkit.errors import PluginWarning
from mklkit.registry.registry import Registry

GOOD = '''
from mklkit.plugin import hookimpl, weighting_rule

@weighting_rule("{name}")
def rule(view, y):
    """Weigh all kernels alike."""
    return 1.0

@hookimpl
def mklkit_combiners():
    return [rule]
'''


def answer(script: str, folder: Path, **environment: str) -> dict[str, Any]:
    """Run a script that fills the dictionary ``said``, and return it with what was warned of."""
    whole = (
        "import json, warnings\n"
        "said = {}\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    from mklkit import MKLClassifier, get_registry\n"
        "    registry = get_registry()\n"
        "said['warned'] = [f'{w.category.__name__}: {w.message}' for w in caught]\n"
        f"{script}\n"
        "print(json.dumps(said))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", whole],
        env={**os.environ, **on_path(folder), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def load() -> tuple[Registry, list[str]]:
    """Return a registry, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        registry = Registry()
    return registry, [str(issue.message) for issue in caught if issue.category is PluginWarning]
