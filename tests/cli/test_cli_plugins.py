"""Plugins seen from the command line: listed, failing, absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from helpers.processes import FIXED, Run, on_path, write_plugin

FAULTY = '''
import os, signal
import attrs
from mklkit.plugin import (
    FittedKernel, Kernel, Learner, LearnerTraits, LinearDecision, hookimpl, weighting_rule
)

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

class Leaving(FittedKernel):
    def __call__(self, a, b):
        return a @ b.T
    def diagonal(self, a):
        raise SystemExit(0)

@attrs.frozen
class Leaves(Kernel):
    """A kernel that ends the program once it is asked."""
    name = "leaves-late"
    def fit(self, rows):
        return Leaving()

@attrs.frozen
class Wordy(Kernel):
    """A kernel that leaves a word."""
    name = "wordy"
    def fit(self, rows):
        return "fitted"

@attrs.frozen
class Closed(Learner):
    """A learner that learns nothing and does not tell its C, for which advice asks at the end."""
    name = "closed"
    traits = LearnerTraits(on_gram=True)
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
def mklkit_combiners():
    return [divides, interrupts, complains, unspeakable, leaves]
'''

WITHOUT_ROWS = '''
import attrs
from mklkit.plugin import Kernel, hookimpl

@attrs.frozen
class Shifted(Kernel):
    """A kernel whose fit takes no rows."""
    name = "shifted"
    def fit(self):
        return self

@hookimpl
def mklkit_kernels():
    return [Shifted]
'''


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return on_path(write_plugin(tmp_path_factory.mktemp("faulty"), "faulty", FAULTY))


def test_a_model_of_a_plugin_needs_the_plugin(
    mklkit: Run, faulty: dict[str, str], tmp_path: Path
) -> None:
    model = tmp_path / "a.mkl"
    assert mklkit("fit", "iris", *FIXED, "-c", "complains", "-o", model, **faulty).code == 0
    assert mklkit("predict", model, "iris", **faulty).code == 0
    assert "mklkit-faulty 1.2" in mklkit("inspect", model).out
    needed = ("mklkit_faulty.complains", "plugin mklkit-faulty: install")
    mklkit("predict", model, "iris").refused(*needed)


def test_warnings_are_one_line_each_and_said_once(mklkit: Run, faulty: dict[str, str]) -> None:
    done = mklkit("fit", "iris", *FIXED, "-c", "complains", **faulty)
    assert done.code == 0, done
    assert done.err == "warning: this weight is doubtful\n"


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("-c", "divides-by-zero", "ZeroDivisionError: division by zero, raised in mklkit_faulty"),
        ("-k", "wordy", "wordy (mklkit_faulty.Wordy)"),
        ("-l", "closed", "RuntimeError: closed, raised in mklkit_faulty"),
        ("-c", "unspeakable", "Unspeakable: Unspeakable, raised in mklkit_faulty"),
        ("-c", "leaves", "SystemExit: 3, raised in mklkit_faulty"),
        ("-k", "leaves-late", "SystemExit: 0, raised in mklkit_faulty"),
    ],
)
def test_faults_that_are_not_the_users(
    mklkit: Run, faulty: dict[str, str], tmp_path: Path, option: str, name: str, said: str
) -> None:
    done = mklkit("fit", "iris", option, name, "-o", tmp_path / "a.mkl", **faulty)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert "mklkit-faulty" in done.err
    assert "Traceback" not in done.err
    assert not os.listdir(tmp_path)
    traced = mklkit("fit", "iris", option, name, MKLKIT_DEBUG="1", **faulty)
    assert "Traceback" in traced.err


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


def test_a_plugin_of_a_wrong_signature_is_left_out_and_named(mklkit: Run, tmp_path: Path) -> None:
    wrong = on_path(write_plugin(tmp_path, "shifted", WITHOUT_ROWS))
    assert mklkit("fit", "iris", *FIXED, "-c", "dimkl3", **wrong).code == 0
    used = mklkit("fit", "iris", *FIXED, "-k", "shifted", **wrong)
    used.refused("plugin 'shifted' of mklkit-shifted is ignored", "No kernel is named 'shifted'")
