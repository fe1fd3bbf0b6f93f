"""Kernels made of others, beside their formulas with scikit-learn's kernels."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_authors.testing.grams import check_gram
from mklkit_kernels import Centered, Power, Product, Sum, TraceNormalized
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel
from sklearn.preprocessing import KernelCenterer

from mklkit import MKLClassifier, SpecError, load_model, save_model
from mklkit.plugin import FittedKernel, Kernel
from mklkit.registry.registry import get_registry
from mklkit.registry.specs import to_spec

RANDOM = np.random.default_rng(3)
ROWS, NEW = RANDOM.normal(size=(40, 3)) + 1, RANDOM.normal(size=(9, 3))
LABELS = np.where(np.arange(40) % 2, "a", "b")
RBF = "rbf(gamma=0.5)"


def kernel_of(spec: str) -> Kernel:
    return get_registry().create("kernel", spec)


def over_trace(gram):
    return gram / np.mean(np.diag(gram))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("product(rbf(gamma=0.5), linear)", lambda x: rbf_kernel(x, gamma=0.5) * (x @ x.T)),
        (
            "sum(rbf(gamma=0.5), linear, laplacian(gamma=0.5))",
            lambda x: rbf_kernel(x, gamma=0.5) + x @ x.T + laplacian_kernel(x, gamma=0.5),
        ),
        ("power(linear, exponent=3)", lambda x: linear_kernel(x) ** 3),
        ("trace-normalized(linear)", lambda x: over_trace(x @ x.T)),
        (
            "centered(rbf(gamma=0.5))",
            lambda x: KernelCenterer().fit_transform(rbf_kernel(x, gamma=0.5)),
        ),
        (
            "product(trace-normalized(linear), power(centered(linear), exponent=2))",
            lambda x: over_trace(x @ x.T) * KernelCenterer().fit_transform(x @ x.T) ** 2,
        ),
    ],
)
def test_values_are_those_of_the_formula(spec, expected):
    kernel = kernel_of(spec)
    check_gram(kernel, ROWS, expected(ROWS))
    assert get_registry().create("kernel", to_spec(kernel, full=True)) == kernel


def test_centring_of_new_rows_is_that_of_scikit_learn():
    fitted = Centered(RBF).fit(ROWS)
    centerer = KernelCenterer().fit(rbf_kernel(ROWS, gamma=0.5))
    mixed = np.vstack([NEW, ROWS[:5]])
    expected = centerer.transform(rbf_kernel(mixed, ROWS, gamma=0.5))
    np.testing.assert_allclose(fitted(mixed, ROWS), expected, atol=1e-12)
    single = fitted(mixed.astype(np.float32), ROWS.astype(np.float32))
    np.testing.assert_allclose(single, expected, atol=1e-5)


@pytest.mark.parametrize("kernel", [Centered("linear"), TraceNormalized("linear")])
def test_a_row_of_weight_two_is_the_row_twice(kernel):
    counts = np.where(np.arange(40) % 3, 1, 2)
    weighted = kernel.fit_weighted(ROWS, counts.astype(float))
    repeated = kernel.fit(np.repeat(ROWS, counts, axis=0))
    np.testing.assert_allclose(weighted(NEW, ROWS), repeated(NEW, ROWS), rtol=1e-9, atol=1e-12)


class Counting(FittedKernel):
    """The linear kernel, which counts the values that it was asked for."""

    values = 0

    def __call__(self, a, b):
        Counting.values += len(a) * len(b)
        return a @ b.T

    def diagonal(self, a):
        return np.einsum("ij,ij->i", a, a)


def test_means_of_training_rows_are_not_computed_again():
    """Tile by tile that would be N/205 times the work of the inner kernel."""
    fitted = Centered().wrap(Counting(), ROWS, np.ones(40))
    Counting.values = 0
    for start in range(0, 40, 10):
        fitted(ROWS[start : start + 10], ROWS)
    assert Counting.values == 40 * 40


def test_they_are_learned_from_on_columns_in_tiles_saved_and_set(tmp_path):
    rows = RANDOM.normal(size=(1300, 3))
    y = np.sign(rows[:, 0] * rows[:, 1] + 0.1)
    specs = ["both:product(rbf, linear)@0,1", "centered(rbf)@1:3", "power(rbf, exponent=2)"]
    model = MKLClassifier(specs, combiner="alignment").fit(rows, y)
    gram = MKLClassifier(specs, combiner="alignment", feature_map="empirical(subset=50)")
    gram.fit(rows, y)
    save_model(model, tmp_path / "model.mkl")
    again = load_model(tmp_path / "model.mkl")
    np.testing.assert_allclose(again.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(again.weights_, model.weights_)

    model.set_params(kernels__both__rbf__sigma=1.0, kernels__both__linear="polynomial(degree=3)")
    assert model.kernels[0][1] == Product("rbf(sigma=1)", "polynomial(degree=3)")
    width = again.get_params()["kernels__both__rbf__sigma"]
    assert width == "mean"
    assert kernel_of("sum(rbf, rbf)").with_params(rbf_2__sigma=3) == Sum("rbf", "rbf(sigma=3)")


def test_the_alignment_in_tiles_is_that_of_the_matrix():
    rows = RANDOM.normal(size=(1300, 2))
    y = np.where(rows[:, 0] > 0, 1.0, -1.0)
    model = MKLClassifier(["centered(rbf(gamma=0.5))", "linear"], combiner="alignment")
    weights = model.fit(rows, y).weights_[0]
    grams = [KernelCenterer().fit_transform(rbf_kernel(rows, gamma=0.5)), rows @ rows.T]
    alignments = [y @ gram @ y / (1300 * np.linalg.norm(gram)) for gram in grams]
    np.testing.assert_allclose(weights, alignments / np.sum(alignments), rtol=1e-6)


def test_what_cannot_be_joined_is_refused():
    with pytest.raises(SpecError, match="numbers and text"):
        kernel_of("product(rbf, spectrum)")
    with pytest.raises(SpecError, match="exponent"):
        kernel_of("power(rbf, exponent=0)")
    with pytest.raises(SpecError, match="linaer"):
        Product().with_params(linaer__gamma=1)
    assert not Power("tanh").traits.definite
    assert not kernel_of("sum(rbf, tanh)").traits.definite


def test_text_of_any_width_is_compared():
    texts = [["abcabc"], ["ab"], ["cabc"], ["bca"]] * 3
    y = [0, 1] * 6
    specs = ["centered(spectrum(k=2))", "product(spectrum(k=1), spectrum(k=2))"]
    model = MKLClassifier(specs, combiner="uniform").fit(texts, y)
    assert np.isfinite(model.decision_function([["abcabcabcabc"], ["a"]])).all()
