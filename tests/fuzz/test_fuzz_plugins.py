"""Any plugin: it works, or is left out and named; everything else goes on working."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from broken_plugins import NAME, install
from drawing import Draw
from helpers.processes import Outcome, run_in_process
from mklkit_authors.testing.checks import checks_of, findings

from mklkit import MKLClassifier, get_registry
from mklkit.registry.entries import HOOKS
from mklkit.registry.registry import Entry, Registry, forget_registry

MESSAGE = 3000
DISTRIBUTION = f"mklkit-{NAME}"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on the path; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget_registry()
    yield tmp_path
    sys.modules.pop(f"mklkit_{NAME}", None)
    forget_registry()
    importlib.invalidate_caches()


def test_a_plugin_works_or_is_left_out(draw: Draw, site: Path) -> None:
    fault = install(draw, site)
    listed = run_in_process("list", "--json")
    print(listed.err[:2000])
    assert listed.code == 0
    _check_told(listed)
    names = {(entry["kind"], entry["name"]) for entry in json.loads(listed.out)}
    assert names >= {(entry.kind, entry.name) for entry in _entries(Registry(third_party=False))}
    registry = get_registry()
    failures = [each for each in registry.failures if DISTRIBUTION in str(each)]
    assert len(failures) <= 1
    if fault in ("class", "fitted", "import"):
        assert failures or _provided(registry), "neither there nor named"
    _check_checks(draw, registry)
    _check_use(draw, registry, site)
    rows = np.random.default_rng(0).normal(size=(8, 2))
    assert np.isfinite(MKLClassifier().fit(rows, np.arange(8) % 2).decision_function(rows)).all()


def _entries(registry: Registry) -> list[Entry]:
    return [entry for kind in HOOKS for entry in registry.entries(kind)]


def _provided(registry: Registry) -> list[Entry]:
    return [entry for entry in _entries(registry) if entry.distribution == DISTRIBUTION]


def _check_told(outcome: Outcome) -> None:
    assert "Traceback" not in outcome.err
    assert "\x1b" not in outcome.err
    assert len(outcome.err) <= MESSAGE


def _check_checks(draw: Draw, registry: Registry) -> None:
    """Run a few of the checks that ``mklkit plugin check`` runs."""
    checks = checks_of(registry, DISTRIBUTION, [DISTRIBUTION])
    chosen = [draw.one_of(checks) for _ in range(3 if checks else 0)]
    for finding in findings(chosen):
        assert len(finding.message) <= MESSAGE


def _check_use(draw: Draw, registry: Registry, folder: Path) -> None:
    """Fit with the plugin's components from the command line."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(16, 2)), columns=["a", "b"])
    table.assign(target=np.arange(16) % 2).to_csv(folder / "data.csv", index=False)
    for entry in _provided(registry):
        option = f"--{entry.kind.replace('_', '-')}"
        outcome = run_in_process("fit", folder / "data.csv", option, entry.name)
        print(f"exit code {outcome.code}\n{outcome.err[:2000]}")
        _check_told(outcome)
        assert outcome.code in (0, 1, 2)
        assert outcome.code != 1 or "plugin" in outcome.err
        # What a component prints while it works is its own affair.
        assert outcome.code == 0 or not outcome.out.replace("noise\n", "")
