"""Ordinary mistakes in components are errors that name the component and what it returned."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from helpers.processes import on_path, run_in_process, write_plugin

from mklkit import DataError, MKLClassifier
from mklkit.errors import ComponentError
from mklkit.learners import MHKS
from mklkit.plugin import (
    CoupledSolution,
    CouplingCombiner,
    FeatureMap,
    FeatureMapTraits,
    FittedLearner,
    FittedMap,
    FixedKernel,
    FusionCombiner,
    GatingCombiner,
    Kernel,
    LearnedFusion,
    Learner,
    LearnerTraits,
    Missing,
    WeightingCombiner,
    weighting_rule,
)

ROWS = np.random.default_rng(0).normal(size=(24, 4))
LABELS = np.arange(24) % 2
GAPS = np.where((np.arange(24) % 5 == 0)[:, None] & (np.arange(4) < 2), np.nan, ROWS)


@attrs.frozen
class Similarity(FixedKernel):
    """The inner product, with mistakes."""

    name: ClassVar[str] = "mistaken"

    values: Any = lambda a, b: a @ b.T
    itself: Any = lambda a: (a**2).sum(axis=1)

    def __call__(self, a, b):
        return self.values(a, b)

    def diagonal(self, a):
        return self.itself(a)


@attrs.frozen
class Returns(Kernel):
    """A kernel whose fit returns something."""

    name: ClassVar[str] = "mistaken"

    fitted: Any = None

    def fit(self, rows):
        return self.fitted


@attrs.frozen
class Mapped(FeatureMap, FittedMap):
    """A map with mistakes."""

    name: ClassVar[str] = "mistaken"
    traits: ClassVar[FeatureMapTraits] = FeatureMapTraits(explicit=True)
    explicit: ClassVar[bool] = True

    columns: Any = None
    fitted: Any = None

    def fit(self, kernel, rows, random_state):
        return self if self.fitted is None else self.fitted

    def transform(self, rows):
        return self.columns(rows)


@attrs.frozen
class Learns(Learner, FittedLearner):
    """A learner with mistakes."""

    name: ClassVar[str] = "mistaken"
    traits: ClassVar[LearnerTraits] = LearnerTraits(on_gram=True)

    decided: Any = None
    fitted: Any = None

    def fit(self, side, target):
        return self if self.fitted is None else self.fitted(side)

    def decide(self, columns):
        return self.decided(columns)


@attrs.frozen
class NoSubproblem(MHKS):
    """A learner that can be coupled, but has no subproblem."""

    name: ClassVar[str] = "mistaken"

    def subproblem(self, side, target, variants):
        return None


@attrs.frozen
class Weighs(WeightingCombiner):
    """A weighting with mistakes."""

    name: ClassVar[str] = "mistaken"

    values: Any = None

    def weights(self, views, y):
        return self.values


def ruled(rule):
    """Return a combiner from a rule with mistakes."""
    return weighting_rule("mistaken")(rule)()


@attrs.frozen
class Couples(CouplingCombiner):
    """A coupling with mistakes."""

    name: ClassVar[str] = "mistaken"

    solution: Any = None

    def couple(self, problems, target, learner, random_state):
        goal = target.values[:, None]
        solved = [problem.solve(goal, np.ones(1)) for problem in problems]
        return self.solution(solved, [p.finish(s) for p, s in zip(problems, solved, strict=True)])


@attrs.frozen
class Gated(GatingCombiner):
    """A gating with mistakes."""

    name: ClassVar[str] = "mistaken"

    values: Any = None

    def fit_gates(self, views, y, random_state):
        return self.values if self.values is None else self

    def gates(self, rows):
        return self.values(rows)


@attrs.frozen
class Fuses(FusionCombiner):
    """A fusion with mistakes."""

    name: ClassVar[str] = "mistaken"

    values: Any = None

    def fuse(self, scores):
        return self.values(scores)


@attrs.frozen
class Unlearned(LearnedFusion):
    """A fusion that forgets to return what it learned."""

    name: ClassVar[str] = "mistaken"

    def learn(self, scores, y, random_state):
        return None


@attrs.frozen
class Lost(Missing):
    """A strategy that returns nothing."""

    name: ClassVar[str] = "mistaken"

    what: str = "kernel"

    def fit(self, kernel, rows):
        return kernel if self.what == "combiner" else None

    def wrap(self, combiner):
        return combiner if self.what == "kernel" else None


def coupled(solution):
    return {"combiner": Couples(solution)}


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "transposed": ({"kernels": Similarity(lambda a, b: b @ a.T)}, r"\(3, 2\).*\(2, 3\)"),
    "list of similarities": ({"kernels": Similarity(lambda a, b: (a @ b.T).tolist())}, "list"),
    "squares as diagonal": ({"kernels": Similarity(itself=np.square)}, r"\(3,\).*\(3, 4\)"),
    "no fitted kernel": ({"kernels": Returns()}, "FittedKernel.*None"),
    "a function as kernel": ({"kernels": Returns(np.dot)}, "FittedKernel"),
    "an array as map": ({"feature_map": Mapped(fitted=ROWS)}, "FittedMap.*ndarray"),
    "transposed features": ({"feature_map": Mapped(np.transpose)}, r"\(3, p\).*\(2, 3\)"),
    "one feature": ({"feature_map": Mapped(lambda rows: rows[:, 0])}, r"\(3, p\).*\(3,\)"),
    "an array as learner": ({"learner": Learns(fitted=lambda s: s.gram())}, "FittedLearner.*nda"),
    "a column of decisions": (
        {"learner": Learns(lambda columns: columns[:, :1])},
        r"\(3,\).*\(3, 1\)",
    ),
    "one decision": ({"learner": Learns(np.sum)}, "array.*float"),
    "words": ({"learner": Learns(lambda columns: np.full(len(columns), "a"))}, "'a'"),
    "NaN decisions": ({"learner": Learns(lambda columns: columns[:, 0] * np.nan)}, "NaN"),
    "a column in fusion": (
        {"learner": Learns(lambda columns: columns[:, :1]), "combiner": Fuses(np.mean)},
        r"\(3,\).*\(3, 1\)",
    ),
    "no subproblem": ({"combiner": "ifsl", "learner": NoSubproblem()}, "Subproblem.*None"),
    "too many weights": ({"combiner": Weighs(np.ones(5))}, r"\(2,\).*\(5,\)"),
    "no weights": ({"combiner": Weighs()}, "None"),
    "weights by name": ({"combiner": Weighs({"a": 1.0})}, "{'a': 1.0}"),
    "ragged weights": ({"combiner": Weighs([[1.0], [1.0, 2.0]])}, r"\(2,\)"),
    "a score for each sample": ({"combiner": ruled(lambda view, y: y)}, r"number.*\(24,\)"),
    "no score": ({"combiner": ruled(lambda view, y: None)}, "number.*None"),
    "a list of learners": (coupled(lambda solved, learners: learners), "CoupledSolution.*list"),
    "coefficients": (
        coupled(lambda solved, learners: CoupledSolution(solved, np.ones(2) / 2)),
        r"\(24,\).*\(24, 1\)",
    ),
    "three weights": (
        coupled(lambda solved, learners: CoupledSolution(learners, np.ones(3) / 3)),
        r"\(2,\).*\(3,\)",
    ),
    "no gates": ({"combiner": Gated()}, "gates.*None"),
    "a gate for each sample": ({"combiner": Gated(lambda x: x[:, 0])}, r"\(3, 2\).*\(3,\)"),
    "gates of training samples": ({"combiner": Gated(lambda x: np.ones((24, 2)))}, r"\(24, 2\)"),
    "all scores": ({"combiner": Fuses(lambda scores: scores)}, r"\(3,\).*\(3, 2\)"),
    "one score": ({"combiner": Fuses(np.mean)}, r"\(3,\).*\(\)"),
    "no fusion": ({"combiner": Unlearned()}, "fuse.*None"),
    "no kernel of a strategy": ({"missing": Lost()}, "FittedKernel.*None"),
    "no combiner of a strategy": ({"missing": Lost("combiner")}, "Combiner.*None"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_the_component_and_what_it_returned(mistake: str) -> None:
    settings, told = MISTAKES[mistake]
    if isinstance(settings.get("feature_map"), Mapped):
        settings = {**settings, "learner": "mhks"}
    kernels = settings.get("kernels", ["rbf@0:2", "linear@2:4"])
    model = MKLClassifier(**{**settings, "kernels": kernels})
    with pytest.raises(ComponentError, match=f"(?s)^mistaken \\({__name__}.*: .*{told}"):
        model.fit(GAPS if "missing" in settings else ROWS, LABELS)


@pytest.mark.parametrize("learner", ["svm", "ridge"])
def test_a_kernel_with_nan_is_named(learner: str) -> None:
    hole = Similarity(lambda a, b: np.where(a @ b.T > 1, np.nan, a @ b.T))
    with pytest.raises(DataError, match="'hole'"):
        MKLClassifier([("rest", "rbf"), ("hole", hole)], learner=learner).fit(ROWS, LABELS)


def test_a_rule_without_labels_is_an_error_when_it_is_defined() -> None:
    with pytest.raises(TypeError, match=r"'mistaken'.*view, y.*rule\(view\)"):

        @weighting_rule("mistaken")
        def rule(view):
            return 1.0


def test_the_command_line_names_the_distribution(tmp_path: Path) -> None:
    source = (
        "from mklkit.plugin import register, weighting_rule\n"
        '@register\n@weighting_rule("none")\ndef rule(view, y):\n    """Forget to return."""\n'
    )
    folder = write_plugin(tmp_path / "site", "forgetful", source)
    done = run_in_process("fit", "--combiner", "none", cwd=tmp_path, **on_path(folder))
    assert done.code == 1
    assert done.out == ""
    for part in ("none (mklkit_forgetful.rule)", "None", "mklkit-forgetful"):
        assert part in done.err
    assert "Traceback" not in done.err
