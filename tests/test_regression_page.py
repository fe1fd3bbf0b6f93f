"""The examples on the page about regression run, in turn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from documents import commands, listings
from following import run_in_turn

from mklkit import MKLRegressor

PAGE = "docs/guides/regression.md"


@pytest.mark.parametrize("block", listings(PAGE, "python"))
def test_an_example_runs(block, capsys):
    names: dict[str, object] = {}
    exec(block, names)
    assert isinstance(names["model"], MKLRegressor)
    assert capsys.readouterr().out


def test_commands_on_the_page_learn_and_predict_prices(tmp_path):
    random = np.random.default_rng(0)
    size = random.uniform(30, 200, 60)
    houses = pd.DataFrame({"size": size, "age": random.uniform(0, 90, 60), "price": 2.5 * size})
    houses.to_csv(tmp_path / "house.csv", index=False)
    houses.head(5).drop(columns="price").to_csv(tmp_path / "new.csv", index=False)
    *_, predicted = run_in_turn(commands(PAGE), tmp_path)
    assert len(predicted.splitlines()) == 6
