"""Third-party strategies: real distributions on the path of a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from helpers.processes import on_path, write_plugin
from installed import answer, load

from mklkit.errors import PluginConflictError

BY_TRACE = '''
from mklkit.plugin import hookimpl, weighting_rule

@weighting_rule("by-trace")
def trace(view, y):
    """Weight each kernel by the trace of its Gram matrix.

    More of the docstring.
    """
    return view.kernel.diagonal(view.rows).sum()

@hookimpl
def mklkit_combiners():
    return [trace]
'''

EVERYTHING = '''
from typing import ClassVar
import attrs
import numpy as np
from mklkit.plugin import FittedKernel, Kernel, Learner, LearnerTraits, LinearDecision, Preset
from mklkit.plugin import hookimpl

@attrs.frozen
class Doubled(Kernel):
    """Twice the inner product."""
    name: ClassVar[str] = "doubled"
    factor: float = 2.0
    def fit(self, rows):
        return FittedDoubled(self.factor)

@attrs.frozen
class FittedDoubled(FittedKernel):
    factor: float
    def __call__(self, a, b):
        return self.factor * (a @ b.T)
    def diagonal(self, a):
        return self.factor * (a**2).sum(axis=1)

@attrs.frozen
class Centroids(Learner):
    """Nearest class mean."""
    name: ClassVar[str] = "centroids"
    traits: ClassVar[LearnerTraits] = LearnerTraits(on_gram=True)
    def fit(self, side, target):
        y = target.values
        gram, first, second = side.gram(), y > 0, y < 0
        alpha = first / first.sum() - second / second.sum()
        inside = lambda m: gram[np.ix_(m, m)].mean()
        return LinearDecision(alpha, (inside(second) - inside(first)) / 2)

@hookimpl
def mklkit_kernels():
    return [Doubled]

@hookimpl
def mklkit_learners():
    return [Centroids]

@hookimpl
def mklkit_presets():
    return [Preset("nearest", "Nearest class mean.", "uniform", ("doubled",), None, "centroids")]

@hookimpl
def mklkit_model_types():
    return [FittedDoubled]
'''

FIT = """
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
"""


@pytest.mark.process
def test_a_plugin_is_a_built_in_from_elsewhere(tmp_path):
    folder = write_plugin(write_plugin(tmp_path / "site", "trace", BY_TRACE), "all", EVERYTHING)
    said = answer(
        FIT
        + """
model = MKLClassifier(["linear", "doubled(factor=3)"], combiner="by-trace").fit(X, y)
said["weights"] = model.weights_.tolist()
nearest = MKLClassifier("doubled", learner="centroids").fit(X, y)
said["score"] = nearest.score(X, y)
entry = registry.lookup("combiner", "by-trace")
said["entry"] = [entry.distribution, entry.version, entry.help]
said["kernel"] = registry.lookup("kernel", "doubled").distribution
said["preset"] = registry.lookup("preset", "nearest").help
said["type"] = registry.distribution_of("mklkit_all.FittedDoubled")
said["component"] = registry.distribution_of("mklkit_all.Doubled")
said["own"] = registry.distribution_of("mklkit.kernels.distances.RBF")
said["stranger"] = registry.distribution_of("os.system")
""",
        folder,
    )
    assert said["warned"] == []
    assert said["weights"] == [pytest.approx([0.25, 0.75])] * 3
    assert said["score"] > 0.9
    first_line = "Weight each kernel by the trace of its Gram matrix."
    assert said["entry"] == ["mklkit-trace", "1.2", first_line]
    assert said["kernel"] == said["type"] == said["component"] == "mklkit-all"
    assert said["preset"] == "Nearest class mean."
    assert said["own"] == "mklkit"
    assert said["stranger"] is None


def test_two_plugins_with_one_name_are_both_named(site):
    write_plugin(site, "first", BY_TRACE)
    write_plugin(site, "second", BY_TRACE.replace("return view.kernel", "return 1 + view.kernel"))
    write_plugin(site, "third", BY_TRACE.replace('"by-trace"', '"dimkl3"'))
    registry, warned = load()
    both = "'by-trace' .* mklkit-first and mklkit-second: .*MKLKIT_DISABLE_PLUGINS=mklkit-second"
    with pytest.raises(PluginConflictError, match=both):
        registry.create("combiner", "by-trace")
    # A built-in's name is not to be had: one package could else stop every fit.
    assert registry.lookup("combiner", "dimkl3").distribution == "mklkit"
    assert len(warned) == 1
    assert "its combiner 'dimkl3' has the name of a component of mklkit" in warned[0]
    listed = [e.distribution for e in registry.entries("combiner") if e.name == "by-trace"]
    assert listed == ["mklkit-first", "mklkit-second"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("value", "third_party"),
    [("1", False), ("0", True), ("mklkit-other", True), ("mklkit_trace, mklkit-broken", False)],
)
def test_plugins_can_be_turned_off(tmp_path, value, third_party):
    folder = write_plugin(write_plugin(tmp_path / "site", "trace", BY_TRACE), "broken", "1 / 0")
    said = answer(
        "said['names'] = [entry.name for entry in registry.entries('combiner')]\n"
        "said['failures'] = len(registry.failures)",
        folder,
        MKLKIT_DISABLE_PLUGINS=f"{os.environ['MKLKIT_DISABLE_PLUGINS']},{value}"
        if "mklkit" in value
        else value,
    )
    assert ("by-trace" in said["names"]) == third_party
    assert bool(said["failures"]) == bool(said["warned"]) == third_party
    assert "uniform" in said["names"]


@pytest.mark.process
def test_importing_the_package_loads_no_plugin_and_no_heavy_library(tmp_path):
    folder = write_plugin(tmp_path / "site", "broken", "1 / 0")
    said = answer(
        "import subprocess, sys\n"
        "code = 'import sys, mklkit; print(sorted(m.partition(\".\")[0] for m in sys.modules))'\n"
        "done = subprocess.run([sys.executable, '-W', 'error', '-c', code], capture_output=True)\n"
        "said['modules'] = done.stdout.decode()\n"
        "said['errors'] = done.stderr.decode()",
        folder,
    )
    assert said["errors"] == ""
    assert "'mklkit'" in said["modules"]
    for library in ("numpy", "scipy", "sklearn", "pandas", "numba", "mklkit_broken"):
        assert f"'{library}'" not in said["modules"]


HANG = """
import sys
from mklkit.registry import discovery
discovery.LONG_IMPORT = 0.3
from mklkit.cli.app import main
sys.argv = ["mklkit", "list", "kernels"]
main()
"""


@pytest.mark.process
def test_an_import_that_never_returns_is_named(tmp_path):
    folder = write_plugin(tmp_path / "site", "hanging", "import time\ntime.sleep(1000)")
    command, environment = [sys.executable, "-c", HANG], {**os.environ, **on_path(folder)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline()
        finally:
            process.kill()
    for part in ("'hanging'", "mklkit-hanging", "MKLKIT_DISABLE_PLUGINS=mklkit-hanging"):
        assert part in line
