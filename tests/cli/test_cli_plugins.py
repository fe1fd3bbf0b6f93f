"""Plugins seen from the command line: listed, failing, absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from processes import Run, on_path, write_plugin

GOOD = '''
from mklkit.plugin import hookimpl, weighting_rule

@weighting_rule("by-trace")
def trace(view, y):
    """Weight each kernel by the trace of its Gram matrix."""
    return float(view.gram().trace())

@hookimpl
def mklkit_combiners():
    return [trace]
'''

FAULTY = '''
import os, signal
from mklkit.plugin import FeatureMapFacts, LearnerFacts, LinearDecision, hookimpl, weighting_rule

@weighting_rule("divides-by-zero")
def divides(view, y):
    """Divide by zero."""
    return 1 / 0

@weighting_rule("interrupts")
def interrupts(view, y):
    """Press Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    os.kill(os.getpid(), signal.SIGINT)
    return 1.0

@weighting_rule("complains")
def complains(view, y):
    """Warn at every kernel."""
    import warnings
    warnings.warn("this weight is\\ndoubtful", RuntimeWarning, stacklevel=1)
    return 1.0

class Unspeakable(BaseException):
    def __str__(self):
        raise ValueError("no words")

@weighting_rule("unspeakable")
def unspeakable(view, y):
    """Raise what is no Exception."""
    raise Unspeakable

@weighting_rule("leaves")
def leaves(view, y):
    """End the program."""
    raise SystemExit(3)

class Leaving:
    def __call__(self, a, b):
        return a @ b.T
    def diagonal(self, a):
        raise SystemExit(0)

class Leaves:
    """A kernel that ends the program once it is asked."""
    name = "leaves-late"
    def fit(self, rows):
        return Leaving()

class HalfMade:
    """A feature map whose fitted object lacks what is asked of one."""
    name = "half-made"
    facts = FeatureMapFacts(explicit=True)
    def fit(self, kernel, rows, random_state):
        return Leaving()

class Wordy:
    """A kernel that leaves a word."""
    name = "wordy"
    def fit(self, rows):
        return "fitted"

class Closed:
    """A learner that learns nothing and does not tell its C, for which advice asks at the end."""
    name = "closed"
    facts = LearnerFacts(on_gram=True)
    @property
    def C(self):
        raise RuntimeError("closed")
    def with_params(self, **params):
        return self
    def fit(self, side, target):
        return LinearDecision(0 * target.values, 0.0)

@hookimpl
def mklkit_learners():
    return [Closed]

@hookimpl
def mklkit_kernels():
    return [Leaves, Wordy]

@hookimpl
def mklkit_feature_maps():
    return [HalfMade]

@hookimpl
def mklkit_combiners():
    return [divides, interrupts, complains, unspeakable, leaves]
'''


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return on_path(write_plugin(tmp_path_factory.mktemp("good"), "good", GOOD))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return on_path(write_plugin(tmp_path_factory.mktemp("faulty"), "faulty", FAULTY))


def test_list_names_everything_with_its_origin(mklkit: Run, good: dict[str, str]) -> None:
    done = mklkit("list", **good)
    assert done.code == 0, done
    for part in ("kernels", "maps", "combiners", "learners", "presets", "rbf", "empirical"):
        assert part in done.out
    line = next(line for line in done.out.splitlines() if "by-trace" in line)
    assert line.split()[1:3] == ["mklkit-good", "1.2"]
    assert "Weight each kernel by the trace" in line
    entries = mklkit("list", "combiners", "--json", **good).json
    assert {entry["kind"] for entry in entries} == {"combiner"}
    assert {"by-trace", "dimkl3"} <= {entry["name"] for entry in entries}


def test_a_plugin_that_fails_to_import_is_one_line(mklkit: Run, tmp_path: Path) -> None:
    broken = on_path(write_plugin(tmp_path, "broken", "import a_module_that_is_not_there\n"))
    done = mklkit("list", "learners", **broken)
    assert done.code == 0
    assert "svm" in done.out
    assert len(done.err.splitlines()) == 1
    for part in ("'broken'", "mklkit-broken", "a_module_that_is_not_there"):
        assert part in done.err


def test_a_model_of_a_plugin_needs_the_plugin(
    mklkit: Run, good: dict[str, str], tmp_path: Path
) -> None:
    model = tmp_path / "a.mkl"
    assert mklkit("fit", "iris", "-c", "by-trace", "-o", model, **good).code == 0
    assert mklkit("predict", model, "iris", **good).code == 0
    assert "mklkit-good 1.2" in mklkit("inspect", model).out
    mklkit("predict", model, "iris").refused("mklkit_good.trace", "plugin mklkit-good: install")


def test_warnings_are_one_line_each_and_said_once(mklkit: Run, faulty: dict[str, str]) -> None:
    done = mklkit("fit", "iris", "-c", "complains", **faulty)
    assert done.code == 0, done
    assert done.err == "warning: this weight is doubtful\n"


@pytest.mark.parametrize("debug", [False, True])
def test_faults_that_are_not_the_users(mklkit: Run, faulty: dict[str, str], debug: bool) -> None:
    more = {"MKLKIT_DEBUG": "1"} if debug else {}
    done = mklkit("fit", "iris", "-c", "divides-by-zero", **faulty, **more)
    assert done.code == 1
    assert done.out == ""
    assert "a bug in the plugin mklkit-faulty: ZeroDivisionError: division by zero" in done.err
    assert "MKLKIT_DEBUG=1" in done.err
    assert ("Traceback" in done.err) == debug


def test_what_an_object_of_a_plugin_lacks_is_its_fault(mklkit: Run, faulty: dict[str, str]) -> None:
    done = mklkit("fit", "iris", "--feature-map", "half-made", **faulty)
    assert done.code == 1
    assert "a bug in the plugin mklkit-faulty: AttributeError" in done.err


def test_who_takes_part_where_we_fail_is_named(mklkit: Run, faulty: dict[str, str]) -> None:
    done = mklkit("fit", "iris", "-k", "linear", "-k", "wordy", **faulty)
    assert done.code == 1
    assert "This is a bug in the plugin mklkit-faulty, or in mklkit: AttributeError" in done.err
    assert "report it to its authors" in done.err


def test_a_fault_found_late_leaves_nothing_on_stdout(mklkit: Run, faulty: dict[str, str]) -> None:
    done = mklkit("fit", "iris", "-l", "closed", **faulty)
    assert done.code == 1
    assert "a bug in the plugin mklkit-faulty: RuntimeError: closed" in done.err
    assert done.out == ""


def test_what_is_no_exception_is_told_in_one_line(
    mklkit: Run, faulty: dict[str, str], tmp_path: Path
) -> None:
    done = mklkit("fit", "iris", "-c", "unspeakable", "-o", tmp_path / "a.mkl", **faulty)
    assert done.code == 1
    assert "a bug in the plugin mklkit-faulty: Unspeakable: Unspeakable" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("option", "name", "code"), [("-c", "leaves", 3), ("-k", "leaves-late", 0)]
)
def test_a_component_can_not_choose_the_exit_code(
    mklkit: Run, faulty: dict[str, str], tmp_path: Path, option: str, name: str, code: int
) -> None:
    done = mklkit("fit", "iris", option, name, "-o", tmp_path / "a.mkl", **faulty)
    assert done.code == 1
    assert done.out == ""
    assert f"a bug in the plugin mklkit-faulty: SystemExit: {code}\n" in done.err
    assert not os.listdir(tmp_path)


@pytest.mark.process
def test_an_interrupt_leaves_nothing_behind(
    started: Run, faulty: dict[str, str], tmp_path: Path
) -> None:
    model = tmp_path / "a.mkl"
    model.write_text("precious")
    done = started("fit", "iris", "-c", "interrupts", "-o", model, **faulty)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert model.read_text() == "precious"
    assert os.listdir(tmp_path) == ["a.mkl"]
