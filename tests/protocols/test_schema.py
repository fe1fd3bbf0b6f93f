"""The columns of a table, whose properties are arrays: they equal those of single columns."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mklkit.protocols import Column, Columns, Schema

ROLES = ("feature", "identifier", "empty", "target")
EVERY = [
    Column(f"{role}{number}", role=role, reads=reads, holds=holds, n_gaps=number)
    for number, (role, reads, holds) in enumerate(
        product(ROLES, [(), ("text",), ("text", "categories")], ["numbers", "text"])
    )
]


def test_columns_are_those_of_which_they_were_made():
    columns = Columns(EVERY)
    assert list(columns) == EVERY
    assert list(columns[np.array([3, 1])]) == [EVERY[3], EVERY[1]]
    assert list(columns[:2] + EVERY[5:]) == [*EVERY[:2], *EVERY[5:]]


def test_masks_tell_the_same_as_each_column():
    columns = Columns(EVERY)
    assert columns.are(reads="categories").tolist() == ["categories" in c.reads for c in EVERY]
    both = [c.role == "empty" and c.holds == "text" for c in EVERY]
    assert columns.are(role="empty", holds="text").tolist() == both
    # Kernels get features, whether or not these have values, and identifiers that they read.
    left_out = [c.role == "target" or (c.role == "identifier" and not c.reads) for c in EVERY]
    assert columns.are_left_out.tolist() == left_out


def test_a_value_is_for_all_columns_and_a_list_has_one_for_each():
    columns = Columns.named(["a", "b"], holds="text", reads=[(), ("text",)], n_gaps=[0, 2])
    expected = [Column("a", "text"), Column("b", "text", reads=("text",), n_gaps=2)]
    assert list(columns) == expected
    with pytest.raises(ValueError, match="2 columns"):
        columns.changed(n_gaps=[1])


@pytest.mark.parametrize(
    "values",
    [{"holds": "pictures"}, {"n_gaps": "3"}, {"fill": [None, "x"]}, {"reads": [(), ["text"]]}],
)
def test_values_that_no_column_may_have_are_found(values):
    Columns.named(["a", "b"]).check()
    with pytest.raises((ValueError, TypeError)):
        Columns.named(["a", "b"], **values).check()


def test_columns_are_found_by_name_in_any_order():
    schema = Schema(EVERY)
    names = [EVERY[7].name, EVERY[2].name]
    assert list(schema.columns_named(names)) == [EVERY[7], EVERY[2]]
    assert schema[names[0]] == EVERY[7]
    assert "absent" not in schema
