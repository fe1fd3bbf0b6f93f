"""``mklkit kernels`` and ``mklkit fit --tune``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Run
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from mklkit.evaluation.alignment import alignment_matrix

SPECS = ("linear", "narrow:rbf(sigma=0.2)", "again:polynomial(coef0=0,degree=1)")
KERNELS = [word for spec in SPECS for word in ("-k", spec)]


def test_the_alignment_of_every_pair(mklkit: Run) -> None:
    done = mklkit("kernels", "iris", *KERNELS, "--json")
    assert done.code == 0, done
    result = done.json
    assert result["kernels"] == ["linear", "narrow", "again"]
    rows = StandardScaler().fit_transform(load_iris().data)
    linear = rows @ rows.T
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    narrow = np.exp(-distances / (2 * 0.2**2))
    expected = (linear * narrow).sum() / np.linalg.norm(linear) / np.linalg.norm(narrow)
    values = np.array(result["alignment"])
    assert values[0, 1] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(values, values.T)
    np.testing.assert_allclose(np.diag(values), 1)
    assert mklkit("kernels", "iris", "-p", "rpemekl", "--json").json["kernels"] == [
        "cosine",
        "rbf",
        "rbf_narrow",
    ]
    assert [pair["kernels"] for pair in result["near_duplicates"]] == [["linear", "again"]]
    assert ["linear", "narrow"] in result["weakly_correlated"]


def test_near_duplicates_are_warned_of_and_the_paper_is_cited(mklkit: Run) -> None:
    done = mklkit("kernels", "iris", *KERNELS)
    assert done.code == 0, done
    assert "linear and again are nearly the same" in done.err
    assert "Pairs with alignment below 0.5 (such pairs often combine best): " in done.out
    assert "almost always have high alignments" in done.out
    assert "almost always have" not in mklkit("kernels", "iris", *KERNELS, "--centered").out


def test_kernels_are_compared_on_a_sample_of_many_rows(mklkit: Run, tmp_path: Path) -> None:
    rows = np.repeat(load_iris().data, 40, axis=0)
    rows += 0.1 * np.random.default_rng(0).normal(size=rows.shape)
    table = pd.DataFrame(rows, columns=list("abcd")).assign(target=np.arange(len(rows)) % 2)
    table.to_csv(tmp_path / "many.csv", index=False)
    call = ("kernels", tmp_path / "many.csv", "--scale", "none", "-k", "linear", "-k", "rbf")
    done = mklkit(*call, "--json")
    assert "compared on 5000 rows of 6000" in done.json["data"]["notes"][-1]
    expected = alignment_matrix(["linear", "rbf"], rows)
    np.testing.assert_allclose(done.json["alignment"], expected, atol=0.02)


def test_measures_of_each_kernel_and_of_all(mklkit: Run) -> None:
    call = ("kernels", "iris", "--scale", "none", *KERNELS, "--measures")
    measures = mklkit(*call, "--json").json["measures"]
    assert list(measures) == ["linear", "narrow", "again", "combined"]
    assert measures["linear"]["margin"] == pytest.approx(measures["again"]["margin"])
    assert measures["narrow"]["trace"] == pytest.approx(150)
    assert "effective" in mklkit(*call).out


def test_measures_are_those_of_the_sampled_rows(mklkit: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("a,target\n" + "1.0,0\n-1.0,1\n" * 510)
    call = ("kernels", path, "--scale", "none", "-k", "rbf(sigma=0.1)", "--measures")
    done = mklkit(*call, "--json")
    assert "compared on 1000 rows of 1020" in done.json["data"]["notes"][-1]
    assert done.json["measures"]["rbf(sigma=0.1)"]["trace"] == pytest.approx(1000)


IFSL_TUNED = ("--combiner", "ifsl", "--tune", "fast")


def test_tuning_says_what_it_chose(mklkit: Run, tmp_path: Path) -> None:
    model = tmp_path / "tuned.mkl"
    done = mklkit("fit", "iris", *IFSL_TUNED, "-k", "rbf", "-o", model, "--json")
    assert done.code == 0, done
    result = done.json
    assert any(
        "best of 81 settings by 5-fold cross-validation" in line for line in result["choices"]
    )
    assert result["scores"]["held_out"]["accuracy"] > 0.8
    assert mklkit("predict", model, "iris").out.count("\n") == 151


def test_a_tuned_or_voting_model_that_learned_nothing_is_said_to_be(
    mklkit: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("a,kind\n" + "1,u\n1,v\n" * 10)
    for model in (IFSL_TUNED, ("--preset", "rpemekl")):
        done = mklkit("fit", tmp_path / "a.csv", "-k", "linear", *model)
        assert done.code == 0, done
        assert "no better than always predicting the majority class" in done.err


@pytest.mark.parametrize("option", ["-k", "--kernel", "--kernels"])
def test_proposed_kernels_are_shown_with_their_alignment(mklkit: Run, option: str) -> None:
    done = mklkit("kernels", "iris", option, "auto", "--json")
    assert done.code == 0, done
    notes = [note for note in done.json["data"]["notes"] if "kernels auto: took" in note]
    assert len(notes) == len(done.json["kernels"])
    for kernel, note in zip(done.json["kernels"], notes, strict=True):
        assert note.startswith(f"kernels auto: took {kernel} (alignment ")


def test_sources_are_named_by_an_option(mklkit: Run) -> None:
    sources = ("--sources", "sepal*", "--sources", "petal*")
    done = mklkit("kernels", "iris", *sources, "--json")
    assert done.code == 0, done
    assert any("sources given: sepal* (2), petal* (2)" in n for n in done.json["data"]["notes"])
    refused = mklkit("fit", "iris", *sources, "-k", "rbf")
    assert refused.code == 2
    assert "--sources" in refused.err
