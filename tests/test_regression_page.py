"""The examples on the page about regression run, in turn."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
import pytest
from documents import commands, listings
from processes import run_in_process

from mklkit import MKLRegressor

PAGE = "docs/guides/regression.md"


@pytest.mark.parametrize("block", listings(PAGE, "python"))
def test_an_example_runs(block, capsys):
    names: dict[str, object] = {}
    exec(block, names)
    assert isinstance(names["model"], MKLRegressor)
    assert capsys.readouterr().out


def test_commands_on_the_page_learn_and_predict_prices(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    size = random.uniform(30, 200, 60)
    houses = pd.DataFrame({"size": size, "age": random.uniform(0, 90, 60), "price": 2.5 * size})
    monkeypatch.chdir(tmp_path)
    houses.to_csv("house.csv", index=False)
    houses.head(5).drop(columns="price").to_csv("new.csv", index=False)
    for line in commands(PAGE):
        done = run_in_process(*shlex.split(line)[1:])
        assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 6
