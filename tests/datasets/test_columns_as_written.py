"""Columns for kernels on text stay as they are written, also where that looks like numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from mklkit.datasets import load_table
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.loading import load_features

CODES = ["0110", "0011", "1110", "0001"]


@pytest.fixture
def codes_file(tmp_path):
    path = tmp_path / "codes.csv"
    pd.DataFrame({"code": CODES, "age": [1, 2, 3, 4], "target": list("abab")}).to_csv(
        path, index=False
    )
    return path


def test_digits_stay_digits_for_kernels_on_text(codes_file):
    assert load_table(codes_file).features["code"].tolist() == [110, 11, 1110, 1]
    table = load_table(codes_file, as_written=["co*"])
    assert table.features["code"].tolist() == CODES
    assert table.features.columns.tolist() == ["code", "age"]
    assert not any("different texts" in note for note in table.notes)


def test_new_rows_and_the_encoder_read_them_the_same(codes_file):
    table = load_table(codes_file, as_written=["code"])
    encoder = TableEncoder(as_they_are=["code"], readings=table.readings).fit(table.features)
    assert encoder.transform(table.features)["code"].tolist() == CODES
    again = load_features(codes_file, ["code", "age"], readings=encoder.readings_)
    assert again.features["code"].tolist() == CODES
