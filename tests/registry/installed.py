"""Plugins as they look once installed, and Python processes that find them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

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


def install(folder: Path, name: str, source: str, version: str = "1.2") -> Path:
    """Write the distribution ``mklkit-<name>``: a module, its metadata, its entry point."""
    folder.mkdir(exist_ok=True)
    module = f"mklkit_{name}"
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    info = folder / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: mklkit-{name}\nVersion: {version}\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(f"[mklkit]\n{name} = {module}\n", encoding="utf-8")
    return folder


def answer(script: str, folder: Path | None = None, **environment: str) -> dict[str, Any]:
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
    paths = [str(folder)] if folder else []
    paths += [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    plain = {key: value for key, value in os.environ.items() if key != "MKLKIT_DISABLE_PLUGINS"}
    done = subprocess.run(
        [sys.executable, "-c", whole],
        env={**plain, "PYTHONPATH": os.pathsep.join(paths), **environment},
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
    return registry, [str(one.message) for one in caught if one.category is PluginWarning]
