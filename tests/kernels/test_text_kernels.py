"""Kernels on text, beside dictionaries of pieces and sets."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mklkit_authors.testing.grams import check_gram, cosines

from mklkit import DataError
from mklkit.kernels.text.spectrum import SpectrumKernel
from mklkit.kernels.text.token_set import TokenSet
from mklkit.registry.readings import text_codes

SHORT = st.lists(st.text("abcdé", max_size=9), min_size=2, max_size=7)


def inner(counted):
    return np.array([[sum(a[u] * b[u] for u in a) for b in counted] for a in counted], dtype=float)


def pieces(sequence, k):
    return Counter(tuple(sequence[i : i + k]) for i in range(len(sequence) - k + 1))


@given(SHORT, st.integers(1, 4))
def test_spectrum_is_the_inner_product_of_dictionaries(texts, k):
    expected = inner([pieces(text, k) for text in texts])
    check_gram(SpectrumKernel(k=k, normalize=False), text_codes(texts), expected)
    check_gram(SpectrumKernel(k=k), text_codes(texts), cosines(expected))


def test_spectrum_of_words():
    texts = ["The cat, the dog.", "the DOG", "a cat sat; the dog sat", "", "naïve cat"]
    split = [re.findall(r"\w+", text.lower()) for text in texts]
    for k in (1, 2):
        expected = inner([pieces(words, k) for words in split])
        check_gram(SpectrumKernel(k=k, words=True), text_codes(texts), cosines(expected))


def test_spectrum_of_long_pieces_of_many_letters():
    # 40 letters of 30,000 kinds: numbers of pieces outgrow a machine's integers on the way.
    rng = np.random.default_rng(0)
    long = "".join(map(chr, rng.integers(0x4E00, 0x9FFF, 60)))
    texts = [long, long[5:] + "x", long[:-25], "x" + long[::-1]]
    expected = inner([pieces(text, 40) for text in texts])
    assert expected[0, 1] > 0
    check_gram(SpectrumKernel(k=40, normalize=False), text_codes(texts), expected)


def test_texts_shorter_than_a_piece_are_like_nothing():
    rows = text_codes(["ab", "abc", ""])
    fitted = SpectrumKernel(k=3).fit(rows)
    assert fitted(rows, rows).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert fitted.diagonal(rows).tolist() == [0, 1, 0]


def test_widths_of_both_sides_may_differ():
    texts = ["abcabc", "ab", "cab"]
    rows = text_codes(texts)
    for kernel in (SpectrumKernel(k=2), TokenSet()):
        fitted = kernel.fit(rows)
        narrow = fitted(text_codes(texts[1:]), rows)
        np.testing.assert_allclose(narrow, fitted(rows, rows)[1:], rtol=1e-12)


def test_token_sets_are_pythons_sets():
    texts = ["a;b;c", "b, c b", " a|d ", "", "A", " ; ", "New York;a"]
    sets = [set(re.split(r"[\s,;|]+", text)) - {""} for text in texts]
    expected = [[len(x & z) / len(x | z) if x | z else 1.0 for z in sets] for x in sets]
    check_gram(TokenSet(), text_codes(texts), expected)


def test_separators_of_token_sets_can_be_chosen():
    rows = text_codes(["New York; Rome", "Rome;York", "Rome ;New York;Rome"])
    similar = TokenSet(separators=";").fit(rows)(rows, rows)
    np.testing.assert_allclose(similar[0], [1, 1 / 3, 1], rtol=1e-12)


def test_numbers_that_are_no_code_points_are_refused():
    for kernel in (SpectrumKernel(), SpectrumKernel(words=True), TokenSet()):
        fitted = kernel.fit(text_codes(["abc"]))
        for wrong in (0.5, 2e6, np.nan):
            with pytest.raises(DataError, match="expects the code points of one column of text"):
                fitted(np.array([[97.0, wrong]]), np.array([[97.0]]))
