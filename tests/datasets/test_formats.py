"""The table of formats: commands, completion and messages follow it."""

from __future__ import annotations

from typing import get_args

import pandas as pd
import pytest

from mklkit.cli.completion.completers import columns_of
from mklkit.cli.options import Data
from mklkit.datasets import load_table
from mklkit.datasets.formats import ENDINGS, FORMATS, imported
from mklkit.errors import DataError


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_functions_of_a_format_can_be_imported(known):
    for function in filter(None, (known.reader, known.header, known.writer)):
        assert callable(imported(function))


def test_no_extension_belongs_to_two_formats():
    assert len({*ENDINGS}) == len(ENDINGS)


def test_an_unknown_extension_names_all_known(tmp_path):
    path = tmp_path / "rows.xyz"
    path.write_text("a,target\n1,p\n2,q\n")
    with pytest.raises(DataError) as error:
        load_table(path)
    assert all(ending in str(error.value) for ending in ENDINGS)


def test_columns_are_completed_from_each_format_with_a_header(tmp_path):
    frame = pd.DataFrame({"age": [1.5, 2.5], "target": ["p", "q"]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    text = "@relation r\n@attribute age real\n@attribute target {p,q}\n@data\n1.5,p\n2.5,q\n"
    (tmp_path / "rows.arff").write_text(text)
    for name in ("rows.csv", "rows.arff"):
        assert columns_of(str(tmp_path / name)) == ["age", "target"]


def test_the_help_of_data_names_all_extensions():
    (argument,) = get_args(Data)[1:]
    assert all(ending in argument.help for ending in ENDINGS)
