"""MKLpy's names on top of mklkit: after ``install()`` its own tests and examples meet ours.

Names that are not below raise NotImplementedError; ``install`` takes further ones, of what is
NumPy's or scikit-learn's. Errors are ValueErrors, as MKLpy's are.
"""

import sys
from functools import partialmethod
from itertools import combinations
from types import ModuleType, SimpleNamespace

import numpy as np
from mklkit_kernels import Centered, TraceNormalized
from mklkit_optimize import CKA, GRAM, KOMD, MEMO, PWMK, RMKL, EasyMKL
from sklearn.exceptions import NotFittedError

from mklkit import MKLClassifier, MKLTransformer, kernel_alignment
from mklkit.evaluation import kernel_measures, margin, radius, spectral_ratio
from mklkit.kernels import Cosine, Precomputed


def tensor(values):
    import torch  # which only MKLpy needs

    return torch.tensor(np.asarray(values, dtype=float))


def numbers(count, first=0):
    return np.arange(first, first + count, dtype=float)[:, None]


def matrix(K, new=None):
    return Precomputed(np.asarray(K), new=None if new is None else np.asarray(new))


def absent(*_, **__):
    raise NotImplementedError("not in mklkit")


def kernel(spec, **defaults):
    """Return a function of two tables that computes a kernel of ours."""

    def values(X, Z=None, **parameters):
        rows, columns = (
            np.array(table, dtype=object)[:, None] if isinstance(X[0], str) else np.asarray(table)
            for table in (X, X if Z is None else Z)
        )
        model = MKLTransformer([spec.format(**{**defaults, **parameters})]).fit(columns)
        return tensor(model.transform(rows))

    return values


def wrap(base):
    """Return a function of a Gram matrix: a kernel of ours around it."""
    return lambda K: tensor(MKLTransformer([base(matrix(K))]).fit_transform(numbers(len(K))))


def measure(name):
    """Return a function of a Gram matrix: a column of our measures."""
    return lambda K: float(kernel_measures([matrix(K)], numbers(len(K)))[name].iloc[0])


def normed_spectral_ratio(K, norm=True):
    value = spectral_ratio(K)
    return (value - 1) / (len(K) ** 0.5 - 1) if norm else value


def ideal(Y):
    signs = np.where(np.asarray(Y) == np.asarray(Y)[0], 1.0, -1.0)
    return np.outer(signs, signs)


class Model:
    """A classifier of lists of Gram matrices, fitted again when those of new rows come."""

    solution = None

    def __init__(self, learner=None, callbacks=(), scheduler=None, **parameters):
        if callbacks or scheduler:
            absent()
        self.parameters, self.combiner = {"learner": learner, **parameters}, self.rule(parameters)
        self.form = "ovo" if parameters.get("multiclass_strategy") == "ovo" else "ovr"
        attributes = vars(learner) if learner else {}  # SVC's, or KOMD's
        self.learner = KOMD(alpha=attributes["lam"]) if "lam" in attributes else self.usual
        self.learner = f"svm(C={attributes['C']})" if "C" in attributes else self.learner

    def get_params(self):
        return self.parameters

    def set_params(self, **parameters):
        self.__init__(**{**self.parameters, **parameters})

    def model(self, KL, new=None):
        pairs = zip(KL, [None] * len(KL) if new is None else new, strict=True)
        kernels = [(f"k{m}", matrix(*pair)) for m, pair in enumerate(pairs)]
        return MKLClassifier(
            kernels, combiner=self.combiner, learner=self.learner, multiclass=self.form
        )

    def fit(self, KL, Y):
        model = self.model(list(KL)).fit(numbers(len(KL[0])), np.asarray(Y))
        self.KL, self.Y, classes = list(KL), np.asarray(Y), model.classes_.tolist()
        sums = [sum(w * tensor(K) for w, K in zip(ws, KL, strict=True)) for ws in model.weights_]
        pairs = zip(map(tensor, model.weights_), sums, strict=True)
        solutions = [SimpleNamespace(weights=w, ker_matrix=K) for w, K in pairs]
        tasks = [*combinations(classes, 2)] if self.form == "ovo" else classes
        several = len(classes) > 2
        self.solution = dict(zip(tasks, solutions, strict=True)) if several else solutions[0]
        return self

    def answers(self, name, KL):
        if self.solution is None:
            raise NotFittedError("fit comes first")
        known = len(self.KL[0])
        model = self.model(self.KL, KL).fit(numbers(known), self.Y)
        return getattr(model, name)(numbers(len(KL[0]), known))

    predict = partialmethod(answers, "predict")
    decision_function = partialmethod(answers, "decision_function")


def algorithm(rule, usual="svm(C=1000)"):
    return type("Algorithm", (Model,), {"rule": lambda _, p: rule(p), "usual": usual})


HULLS, NEAR = KOMD(alpha=0), KOMD(alpha=0.1)  # MKLpy's, where none is said
SHIFTED = "polynomial(degree={degree}, gamma={gamma}, coef0={coef0})"
ERRORS = ["SquaredKernelError", "InvalidKernelsListError", "BinaryProblemError"]
# fmt: off
MODULES = {
    "algorithms": {
        "AverageMKL": algorithm(lambda p: "uniform"), "CKA": algorithm(lambda p: CKA()),
        "FHeuristic": algorithm(lambda p: "alignment"), "GRAM": algorithm(lambda p: GRAM(), HULLS),
        "EasyMKL": algorithm(lambda p: EasyMKL(alpha=p.get("lam", 0.1), normalize=False), NEAR),
        "PWMK": algorithm(lambda p: PWMK(threshold=p.get("delta", 0), relative=True)),
        "MEMO": algorithm(lambda p: MEMO(theta=p.get("theta", 0)), HULLS),
        "RMKL": algorithm(lambda p: RMKL(C=p.get("C", 1)), HULLS)},
    "metrics": {
        "alignment": kernel_alignment, "alignment_yy": lambda K, Y: kernel_alignment(K, ideal(Y)),
        "alignment_ID": lambda K: kernel_alignment(K, np.eye(len(K))), "margin": margin,
        "radius": radius, "spectral_ratio": normed_spectral_ratio,
        "ratio": lambda K, Y: radius(K) ** 2 / margin(K, Y) ** 2 / len(Y),
        "trace": measure("trace"), "frobenius": measure("frobenius")},
    "metrics.pairwise": {
        "linear_kernel": kernel("linear"), "rbf_kernel": kernel("rbf(gamma={gamma})", gamma=1),
        "polynomial_kernel": kernel(SHIFTED, degree=2, gamma=1, coef0=1),
        "homogeneous_polynomial_kernel": kernel("power(linear, exponent={degree})", degree=2),
        "monotone_conjunctive_kernel": kernel("monotone-conjunctive(degree={c}, normalize=False)"),
        "monotone_disjunctive_kernel": kernel("monotone-disjunctive(degree={d}, normalize=False)"),
        "spectrum_kernel": kernel("spectrum(k={p}, normalize=False)")},
    "preprocessing": {"kernel_normalization": wrap(Cosine), "tracenorm": wrap(TraceNormalized),
                      "kernel_centering": wrap(Centered)},
    "utils": {}, "utils.exceptions": dict.fromkeys(ERRORS, ValueError),
    "utils.misc": {"identity_kernel": lambda n: tensor(np.eye(n)), "ideal_kernel": ideal},
    "callbacks": {}, "scheduler": {}}
# fmt: on


def install(**further):
    """Put modules of these names, and further ones, in the place of MKLpy's."""
    for name, members in {"": {}, **MODULES, **further}.items():
        module = ModuleType(f"MKLpy.{name}".rstrip("."))
        vars(module).update({**MODULES.get(name, {}), **members})
        vars(module).update(__path__=[], __getattr__=lambda _: absent)
        sys.modules[module.__name__] = module
        above, _, leaf = module.__name__.rpartition(".")
        if above:
            setattr(sys.modules[above], leaf, module)
