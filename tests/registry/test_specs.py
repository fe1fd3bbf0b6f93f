"""Spec strings: read, rendered, and never evaluated."""

from __future__ import annotations

import keyword

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mklkit import get_registry
from mklkit.errors import MKLKitError, SpecError
from mklkit.estimators.from_preset import preset_classifier
from mklkit.kernels import RBF, Cosine, Polynomial
from mklkit.protocols import Rows
from mklkit.registry.columns import bind_kernels, resolve_columns
from mklkit.registry.specs import KernelSpec, Spec, parse_kernel_spec, parse_spec, to_spec
from mklkit.views.scaling import with_scaling

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]*", fullmatch=True)
PARAMETERS = st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True).filter(
    lambda word: not keyword.iskeyword(word)
)
SCALARS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.booleans(),
    st.none(),
)
LITERALS = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.tuples(inner, inner), max_leaves=5
)


@given(NAMES, st.lists(LITERALS, max_size=3), st.dictionaries(PARAMETERS, LITERALS, max_size=3))
def test_what_is_rendered_is_read_back(name, args, kwargs):
    inside = [repr(arg) for arg in args] + [f"{key}={value!r}" for key, value in kwargs.items()]
    assert parse_spec(f"{name}({', '.join(inside)})") == Spec(name, tuple(args), kwargs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("linear", KernelSpec("linear")),
        (" linear ", KernelSpec("linear")),
        ("fou:rbf@fou_*", KernelSpec("rbf", "fou", "fou_*")),
        ("fou : rbf(sigma='mean') @ fou_* ", KernelSpec("rbf(sigma='mean')", "fou", "fou_*")),
        ("rbf@0:10", KernelSpec("rbf", None, "0:10")),
        ("k1:rbf(gamma=2)@a:b", KernelSpec("rbf(gamma=2)", "k1", "a:b")),
        ("two words:rbf", KernelSpec("rbf", "two words")),
        ("rbf(sigma='a:b)@c')", KernelSpec("rbf(sigma='a:b)@c')")),
        ("cosine(rbf(sigma=(1)))@x", KernelSpec("cosine(rbf(sigma=(1)))", None, "x")),
        ("rbf@e@mail", KernelSpec("rbf", None, "e@mail")),
    ],
)
def test_labels_and_columns_of_kernels(text, expected):
    assert parse_kernel_spec(text) == expected


@pytest.mark.parametrize(
    "text", ["", "@a", "rbf@", "rbf()x", "rbf(", "fou:", "1rbf", "rbf)(", "a:b:c("]
)
def test_kernels_that_can_not_be_read_are_refused(text):
    with pytest.raises(SpecError):
        parse_kernel_spec(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "(sigma=1)",
        "rbf(sigma=1",
        "rbf sigma=1",
        "rbf(sigma=)",
        "rbf(sigma=1)(2)",
        "rbf(1)+(2)",
        "rbf()if(1)else(2)",
        "rbf(**{})",
        "rbf(*[1])",
        "rbf(sigma=1, sigma=2)",
        "rbf(sigma=1); import os",
        "rbf(sigma=a.b)",
        "rbf(sigma=a+b)",
        "rbf(sigma=[x for x in (1,)])",
        "rbf(sigma=lambda: 1)",
        "rbf(sigma=(yield))",
        "rbf(sigma=a[0])",
        "rbf(sigma=f'{1}')",
        "rbf(sigma=\0)",
        "rbf(sigma=" + "(" * 4000 + "1" + ")" * 4000 + ")",
        "rbf(sigma=" + "-" * 100_000 + "1)",
    ],
)
def test_specs_that_can_not_be_read_are_refused(text):
    with pytest.raises(SpecError):
        parse_spec(text)


@pytest.mark.parametrize(
    "attack",
    [
        "__import__('os').system('touch {path}')",
        "open({path!r}, 'w')",
        "exec('open({path!r}, \"w\")')",
        "[open({path!r}, 'w')]",
        "(lambda: open({path!r}, 'w'))()",
        "open({path!r}, 'w') or 1",
        "f'{{open({path!r}, \"w\")}}'",
        "1 if open({path!r}, 'w') else 2",
        "(x := open({path!r}, 'w'))",
    ],
)
@pytest.mark.parametrize("where", ["rbf(sigma={})", "rbf({})", "cosine({})", "cosine(rbf({}))"])
def test_nothing_is_ever_evaluated(tmp_path, attack, where):
    path = tmp_path / "evidence"
    spec = where.format(attack.format(path=str(path)))
    with pytest.raises(SpecError):
        get_registry().create("kernel", spec)
    assert not path.exists()


LONG = "x" * 200_000


@pytest.mark.parametrize(
    "ask",
    [
        lambda: get_registry().create("kernel", LONG),
        lambda: get_registry().create("kernel", f"rbf(sigma={LONG})"),
        lambda: get_registry().create("kernel", f"rbf(sigma=1){LONG}"),
        lambda: get_registry().create("kernel", f"polynomial(coef0='{LONG}')"),
        lambda: get_registry().lookup("preset", LONG),
        lambda: parse_spec(f"rbf(sigma=open('{LONG}').read())"),
        lambda: parse_spec(f"rbf(sigma={'-'.join('a' * 400)})"),
        lambda: parse_spec(f"rbf(sigma={'-'.join('1' * 400)})"),
        lambda: parse_kernel_spec(f"rbf?{LONG}"),
        lambda: RBF().with_params(**{LONG: 1}),
        lambda: bind_kernels([(LONG, "rbf", None, None, None)]),
        lambda: with_scaling(bind_kernels(f"rbf[{LONG}]"), Rows.of(np.ones((2, 1)))),
        lambda: parse_kernel_spec(f"rbf[none]{LONG}"),
        lambda: preset_classifier([LONG]),
        lambda: preset_classifier("mhks", **{LONG: 1}),
        lambda: resolve_columns(LONG, 3, ["a", "b", "c"]),
        lambda: resolve_columns(slice(LONG, None), 3, None),
    ],
)
def test_messages_quote_at_most_a_sensible_length(ask):
    with pytest.raises(MKLKitError) as error:
        ask()
    assert len(str(error.value)) < 800
    assert "characters)" in str(error.value)


def test_numbers_that_no_float_holds_are_refused():
    for name, parameter, said in [
        ("rbf", "sigma", "must be a positive number"),
        ("polynomial", "coef0", "too large"),
        ("polynomial", "degree", "whole numbers must be at most 2147483647"),
    ]:
        with pytest.raises(SpecError, match=said):
            get_registry().create("kernel", f"{name}({parameter}={10**400})")
    with pytest.raises(SpecError, match="too large"):
        Polynomial().with_params(coef0=10**400)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("kernel", "spectrum(k=True)"),
        ("kernel", "polynomial(degree=True)"),
        ("combiner", "best-single(cv=True)"),
        ("learner", "svm(max_iter=True)"),
        ("feature_map", "fourier(n_components=True)"),
    ],
)
def test_booleans_are_no_whole_numbers(kind, spec):
    with pytest.raises(SpecError, match=r"=True.* expected a whole number; got True"):
        get_registry().create(kind, spec)


def test_the_numbers_of_numpy_are_told_as_plain_ones():
    with pytest.raises(SpecError, match=r"'degree' must be >= 1.*\b0\b") as error:
        Polynomial().with_params(degree=np.int64(0))
    assert "np." not in str(error.value)
    with pytest.raises(SpecError, match=r"got \[7, True\]") as error:
        get_registry().create("kernel", [np.int64(7), np.bool_(True)])


def test_a_cosine_of_a_cosine_is_that_cosine():
    nested = get_registry().create("kernel", "cosine(cosine(cosine(rbf(gamma=2.0))))")
    assert nested == Cosine(RBF(gamma=2.0)) == Cosine(Cosine(Cosine(RBF(gamma=2.0))))
    assert to_spec(nested) == "cosine(kernel='rbf(gamma=2.0)')"
    assert to_spec(Cosine()) == "cosine"
    deep = "cosine(" * 60 + "rbf" + ")" * 60
    with pytest.raises(SpecError, match="at most 8 components"):
        get_registry().create("kernel", deep)
    # Parentheses of numbers and of texts are no components.
    assert parse_spec("rbf(sigma=(((((((((1.5))))))))))").kwargs == {"sigma": 1.5}
    assert parse_spec("rbf(sigma='((((((((((')").kwargs == {"sigma": "(" * 10}


def test_names_with_a_hyphen_and_lists_hold_components():
    spec = parse_spec(
        "outer(fixed-share(rbf, share=0.3), [linear, 'a - b'], kernels=[x-y-z(q-r(1))])"
    )
    inner = "fixed-share(rbf, share=0.3)"
    assert spec.args == (inner, ["linear", "a - b"])
    assert parse_spec(spec.kwargs["kernels"][0]).args == ("q-r(1)",)
    assert get_registry().create("kernel", f"cosine({inner})").kernel.share == 0.3
