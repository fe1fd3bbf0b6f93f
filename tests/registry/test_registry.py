"""Names to implementations, built-ins alone."""

from __future__ import annotations

from importlib import import_module
from inspect import isabstract

import pytest

import mklkit
from mklkit import get_registry, plugin
from mklkit.errors import SpecError, UnknownNameError
from mklkit.feature_maps import Empirical
from mklkit.kernels import RBF
from mklkit.learners import SVM
from mklkit.plugin import Learner, LearnerTraits, LinearDecision
from mklkit.registry.entries import kind_of
from mklkit.registry.registry import Registry

BUILT_IN = {
    "kernel": {"linear", "polynomial", "rbf", "laplacian", "tanh", "cosine", "precomputed"},
    "feature_map": {"implicit", "empirical", "fourier"},
    "combiner": {
        "uniform",
        "best-single",
        "alignment",
        "centered-alignment",
        *(f"dimkl{number}" for number in range(1, 7)),
    },
    "learner": {"mhks", "kmhks", "svm"},
    "preset": {"mhks", "kmhks", *(f"paper-dimkl{number}" for number in range(1, 7))},
}
NAMES = [(kind, name) for kind, names in BUILT_IN.items() for name in sorted(names)]


class PlainMean:
    """A learner that derives from nothing."""

    name = "plain-mean"
    traits = LearnerTraits(on_features=True)

    def fit(self, side, target):
        return LinearDecision(side.project_back(target.values), 0.0)


class Bare(Learner):
    """A learner without the decorator of attrs."""

    name = "bare"
    traits = LearnerTraits(on_features=True)

    def fit(self, side, target):
        return LinearDecision(side.project_back(target.values), 0.0)


@pytest.fixture(scope="module")
def registry():
    return Registry(third_party=False)


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_built_ins_are_known_and_made_by_name(registry, kind, name):
    entry = registry.lookup(kind, name)
    assert (entry.kind, entry.name, entry.distribution) == (kind, name, "mklkit")
    assert entry.version == mklkit.__version__
    assert len(entry.help) > 10
    if kind != "preset" and name != "precomputed":
        component = registry.create(kind, name)
        assert (
            component
            == registry.create(kind, f" {name}( ) ")
            == registry.create(kind, entry.target)
        )
        assert registry.create(kind, component) is component


def test_parameters_by_name_and_by_position(registry):
    assert registry.create("kernel", "rbf(sigma='mean')") == RBF(sigma="mean")
    assert registry.create("kernel", "rbf(mean)") == RBF(sigma="mean")
    assert registry.create("kernel", "rbf(2.5)") == RBF(sigma=2.5)
    assert registry.create("learner", "svm(C=10)") == SVM(C=10)
    assert registry.create("feature_map", "empirical(subset=0.1, rank=3)") == Empirical(0.1, 3)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("kernel", "rbg", r"No kernel is named 'rbg'\. Did you mean 'rbf'\?"),
        ("kernel", "RBF", r"Did you mean 'rbf'\?"),
        ("combiner", "best single", None),
        ("combiner", "dimkl", r"Did you mean 'dimkl\d'\?"),
        ("combiner", "centred-alignment", r"Did you mean 'centered-alignment'\?"),
        ("feature_map", "emprical", r"No feature map is named .* Did you mean 'empirical'\?"),
        ("combiner", "svm", r"No combiner is named 'svm'\. 'svm' is a learner\. Known: "),
        ("kernel", "dimkl3", r"'dimkl3' is a combiner\."),
        ("learner", "zzz", r"No learner is named 'zzz'\. Known: .*kmhks, mhks, .*svm"),
        ("preset", "paper-dimkl", r"No preset is named .* Did you mean 'paper-dimkl\d'\?"),
        ("preset", "rpemekl(members=5)", r"Did you mean 'rpemekl'\? A preset has no parameters"),
        ("feature_map", "nystroem(n_components=5)", r"Did you mean 'empirical\(subset=0.1\)'\?"),
    ],
)
def test_unknown_names_suggest_the_nearest(registry, kind, name, message):
    expected = UnknownNameError if message else SpecError
    with pytest.raises(expected, match=message):
        registry.create(kind, name) if kind != "preset" else registry.lookup(kind, name)


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("kernel", "rbf(sigm=1)", r"rbf has no parameter 'sigm'; it takes sigma, gamma\. Did you"),
        ("learner", "mhks(c=1)", "no parameter 'c'; it takes alpha, rho, tol, max_iter, b0"),
        ("kernel", "linear(c=1)", "linear has no parameter 'c'; it takes none"),
        ("kernel", "rbf(1, 2, 3)", r"'rbf\(1, 2, 3\)': too many .*; it takes sigma, gamma\."),
        ("kernel", "rbf(1, sigma=2)", ".*multiple values"),
        ("kernel", "rbf(sigma=-1)", "sigma must be a positive number or one of 'mean'"),
        (
            "kernel",
            "polynomial(degree=2.5)",
            r"built: 'degree' must be int \(got 2.5 that is a float\)\.$",
        ),
        ("combiner", "ifsl(rule=exact)", r"'rule' must be in \('gradient', .*\(got 'exact'\)$"),
        ("kernel", "polynomial(coef0=abc)", "can't be built: could not convert"),
        ("kernel", "precomputed", "'matrix'"),
        ("combiner", "best-single(cv=1)", "'cv' must be >= 2"),
        ("learner", "svm(C=0)", "'C' must be"),
        ("feature_map", "empirical(subset=7.5)", "subset must be a count"),
        ("kernel", "rbf(sigma=1.0, gamma=1.0)", "not both"),
        ("kernel", "cosine(nonesuch)", "nonesuch"),
    ],
)
def test_specs_that_can_not_be_built_say_why(registry, kind, spec, message):
    with pytest.raises(SpecError, match=message):
        registry.create(kind, spec)


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("kernel", "polynomial", {"degree": [0], "coef0": [-1], "gamma": [0]}),
        ("kernel", "laplacian", {"gamma": [-1, "1e999", None]}),
        ("kernel", "tanh", {"gamma": [0]}),
        ("combiner", "dimkl6", {"rank": [0, 1.5], "floor": [0, "1e999"]}),
        ("learner", "svm", {"C": [-1], "tol": [0], "max_iter": [0]}),
        ("learner", "mhks", {"alpha": [-1], "rho": [0, 1.5], "tol": [0]}),
        ("learner", "mhks", {"max_iter": [0], "b0": [-1]}),
    ],
)
def test_values_out_of_range_are_refused_by_name(registry, kind, name, values):
    for parameter, wrong in values.items():
        for value in wrong:
            with pytest.raises(SpecError, match=rf"can't be built: '{parameter}' must be"):
                registry.create(kind, f"{name}({parameter}={value})")


@pytest.mark.parametrize("make", [lambda cls: cls, lambda cls: cls()])
@pytest.mark.parametrize(
    ("kind", "cls", "lacks"),
    [
        ("kernel", object, r"mklkit\.plugin\.Kernel; got"),
        ("kernel", int, "Expected a kernel: a name such as '.+', a spec"),
        ("kernel", list, "Expected a kernel: a name such as '.+', a spec"),
        ("combiner", dict, r"mklkit\.plugin\.Combiner; got"),
        ("kernel", SVM, r"mklkit\.plugin\.Kernel; got"),
        ("feature_map", SVM, r"mklkit\.plugin\.FeatureMap; got"),
        ("learner", Empirical, r"mklkit\.plugin\.Learner; got"),
        ("learner", PlainMean, r"mklkit\.plugin\.Learner; got .*PlainMean"),
        ("learner", Bare, r"Bare.*, which needs the decorator '@attrs.frozen'"),
    ],
)
def test_what_is_no_component_of_the_kind_is_refused(registry, make, kind, cls, lacks):
    with pytest.raises(SpecError, match=lacks):
        registry.create(kind, make(cls))


def test_one_registry_a_process():
    assert get_registry() is get_registry()


def test_every_public_name_is_there():
    for module in (mklkit, plugin):
        assert all(getattr(module, name) is not None for name in module.__all__)
        assert set(dir(module)) >= set(module.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        _ = mklkit.nonesuch


def test_rooms_export_the_classes_of_their_components():
    for kind in ("kernel", "feature_map", "combiner", "learner"):
        room = import_module(f"mklkit.{kind}s")
        classes = {e.target for e in get_registry().entries(kind) if e.distribution == "mklkit"}
        exported = {getattr(room, name) for name in dir(room)}
        assert {cls for cls in exported if not isabstract(cls)} == classes
        with pytest.raises(AttributeError, match="nonesuch"):
            _ = room.nonesuch


def test_a_decorated_component_derives_from_the_base_of_its_kind():
    assert kind_of(RBF) == "kernel"
    assert kind_of(object) is None
    with pytest.raises(TypeError, match="PlainMean"):
        kind_of(PlainMean)
