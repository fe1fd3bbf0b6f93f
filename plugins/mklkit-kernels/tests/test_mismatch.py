"""The mismatch kernel, beside dictionaries of all neighbours of each piece."""

from __future__ import annotations

from collections import Counter
from itertools import product

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mklkit_authors.testing.grams import check_gram, cosines
from mklkit_kernels import Mismatch
from mklkit_kernels.mismatch import FittedMismatch

from mklkit import DataError, MKLClassifier
from mklkit.registry.readings import text_codes

SHORT = st.lists(st.text("abcdé", max_size=9), min_size=2, max_size=7)
LENGTHS = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)]


def neighborhoods(text, k, m, alphabet):
    """Return how often each piece of an alphabet is near to one of a text."""
    counted = Counter()
    for start in range(len(text) - k + 1):
        piece = text[start : start + k]
        if set(piece) <= set(alphabet):
            counted.update(
                near
                for near in product(alphabet, repeat=k)
                if sum(x != y for x, y in zip(piece, near, strict=True)) <= m
            )
    return counted


def inner(texts, k, m, alphabet):
    counted = [neighborhoods(text, k, m, alphabet) for text in texts]
    return np.array([[sum(a[u] * b[u] for u in a) for b in counted] for a in counted], dtype=float)


@settings(deadline=None)
@given(SHORT, st.sampled_from(LENGTHS))
def test_mismatch_counts_all_neighbors(texts, lengths):
    k, m = lengths
    expected = inner(texts, k, m, sorted(set("".join(texts))))
    rows = text_codes(texts)
    check_gram(Mismatch(k=k, m=m, normalize=False), rows, expected)
    check_gram(Mismatch(k=k, m=m), rows, cosines(expected))


def test_mismatch_of_long_pieces_of_many_letters():
    # 40 letters of 30,000 kinds: numbers of pieces outgrow a machine's integers on the way.
    long = "".join(map(chr, np.random.default_rng(0).integers(0x4E00, 0x9FFF, 60)))
    rows = text_codes([long, long[5:] + "x", long[::-1]])
    similar = Mismatch(k=40, m=0, normalize=False).fit(rows)(rows, rows)
    np.testing.assert_array_equal(similar, [[21, 16, 0], [16, 17, 0], [0, 0, 21]])


def test_pieces_with_letters_that_are_not_in_the_alphabet_are_left_out():
    texts = ["ACGTNACG", "ACGTACG", "NNN", "TTTACGN"]
    expected = inner(texts, 3, 1, "ACGT")
    rows = text_codes(texts)
    check_gram(Mismatch(alphabet="TACG", normalize=False), rows, expected)
    learned = Mismatch(normalize=False).fit(rows[1:2])
    np.testing.assert_allclose(learned(rows, rows), expected, rtol=1e-12)


def test_a_text_of_other_letters_is_decided_like_an_empty_one():
    texts, y = pd.DataFrame({"text": ["ACGT", "TTGA", "ACGG"] * 4}), [0, 1, 0] * 4
    model = MKLClassifier("mismatch").fit(texts, y)
    lower, empty, same = model.decision_function(pd.DataFrame({"text": ["acgt", "", "ACGT"]}))
    assert lower == empty != same


def test_widths_of_both_sides_may_differ():
    texts = ["abcabc", "ab", "cab"]
    rows = text_codes(texts)
    for kernel in (Mismatch(k=2), Mismatch(k=4)):
        fitted = kernel.fit(rows)
        narrow = fitted(text_codes(texts[1:]), rows)
        np.testing.assert_allclose(narrow, fitted(rows, rows)[1:], rtol=1e-12)


def test_numbers_that_are_no_code_points_are_refused():
    fitted = Mismatch().fit(text_codes(["abc"]))
    for wrong in (0.5, 2e6, np.nan):
        with pytest.raises(DataError, match="expects the code points of one column of text"):
            fitted(np.array([[97.0, wrong]]), np.array([[97.0]]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 2, "m": 2}, "m must be below k"),
        ({"k": 30, "m": 5}, "choose a smaller m or k"),
        ({"alphabet": ""}, "at least one letter"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Mismatch(**parameters)


def test_a_number_of_letters_from_a_file_is_checked() -> None:
    """With 30 of 60 letters, counting would never end."""
    fitted = FittedMismatch(np.arange(2), 3, 1, True)
    object.__setattr__(fitted, "k", 60)
    object.__setattr__(fitted, "m", 30)
    with pytest.raises(ValueError, match=r"takes .* counts"):
        attrs.validate(fitted)
