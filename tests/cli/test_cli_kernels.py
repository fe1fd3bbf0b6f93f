"""``mklkit kernels`` and ``mklkit fit --tune``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Run
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize

from mklkit import MKLClassifier, load_model, propose_kernels
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
    assert "compared on 5000 samples of 6000" in done.json["data"]["notes"][-1]
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
    assert "compared on 1000 samples of 1020" in done.json["data"]["notes"][-1]
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
def test_chosen_kernels_are_shown_with_their_errors(mklkit: Run, option: str) -> None:
    done = mklkit("kernels", "iris", option, "auto", "--json")
    assert done.code == 0, done
    chosen = done.json["kernels"]
    notes = done.json["data"]["notes"]
    (told,) = [note for note in notes if "whose sum has a leave-one-out error" in note]
    assert told.startswith(f"kernels auto: {len(chosen)} kernel")
    assert told.endswith(": " + ", ".join(chosen))
    (errors,) = [note for note in notes if "errors of each alone: " in note]
    assert all(re.search(rf"{re.escape(kernel)} 0\.\d+", errors) for kernel in chosen)
    bank = propose_kernels(*load_iris(return_X_y=True))
    assert [kernel.label for kernel in bank.kernels] == chosen


def test_a_kernel_is_chosen_for_each_source_that_is_named(mklkit: Run) -> None:
    done = mklkit("kernels", "iris", "-k", "auto@sepal*", "-k", "auto@petal*", "--json")
    assert done.code == 0, done
    told = "\n".join(done.json["data"]["notes"])
    for source in ("auto@sepal*", "auto@petal*"):
        assert f"kernels auto: {source}: rbf" in told


@pytest.fixture
def two_sources(tmp_path: Path) -> Path:
    """Return a file of 60 rows with counts, whose names begin with a_, and numbers, b_."""
    random = np.random.default_rng(1)
    y = np.arange(60) % 2
    columns: dict[str, Any] = {f"a_{n}": random.poisson(1 + y * (n < 2)) for n in range(4)}
    columns |= {f"b_{n}": random.normal(size=60) + y for n in range(3)}
    frame = pd.DataFrame(columns).assign(state=np.where(y, "ill", "well"))
    frame.to_csv(tmp_path / "two.csv", index=False)
    return tmp_path / "two.csv"


def test_a_scale_is_the_same_in_a_spec_a_tuple_and_a_command(
    mklkit: Run, two_sources: Path
) -> None:
    specs = ("a:cosine(linear)[roots]@a_*", "b:rbf[minmax]@b_*")
    model = two_sources.parent / "m.mkl"
    arguments = ("--target", "state", "--learner", "ridge(alpha=0.1)", "-o", model)
    done = mklkit("fit", two_sources, "-k", specs[0], "-k", specs[1], *arguments, "--json")
    assert done.code == 0, done
    frame = pd.read_csv(two_sources)
    features = frame.drop(columns="state")
    loaded = load_model(model)
    expected = loaded.decision_function(features)
    tuples = [("a", "cosine(linear)", "a_*", "roots"), ("b", "rbf", "b_*", "minmax")]
    for kernels in (list(specs), tuples):
        same = MKLClassifier(kernels, learner="ridge(alpha=0.1)").fit(features, frame["state"])
        np.testing.assert_allclose(same.decision_function(features), expected, rtol=1e-9)
    # By scikit-learn, from the columns as they are.
    roots = normalize(np.sqrt(features.filter(like="a_")))
    ranged = MinMaxScaler((-1, 1)).fit_transform(features.filter(like="b_"))
    distances = euclidean_distances(ranged)
    sigma = distances.mean()
    gram = (roots @ roots.T + np.exp(-(distances**2) / (2 * sigma**2))) / 2
    by_hand = MKLClassifier(gram, learner="ridge(alpha=0.1)")
    places = np.arange(60.0)[:, None]
    by_hand.fit(places, frame["state"])
    np.testing.assert_allclose(by_hand.decision_function(places), expected, atol=1e-8)
    shown = mklkit("inspect", model).out
    assert "a: cosine(kernel='linear')[roots] on a_" in shown
    assert "b: rbf(sigma='mean')[minmax] on b_" in shown


def test_a_wrong_scale_is_refused(mklkit: Run, two_sources: Path) -> None:
    fit = ("fit", two_sources, "--target", "state", "-k")
    mklkit(*fit, "linear[rots]@a_*").refused("'rots'", "roots")
    mklkit(*fit, "words:linear[roots]@b_*").refused("'words'", "roots")


@pytest.mark.parametrize(
    "kernels", [("auto",), ("a@a_*", "b:auto@b_*"), ("a:auto@a_*", "rbf[standard]@b_*")]
)
def test_sources_without_a_kernel_get_one(
    mklkit: Run, two_sources: Path, kernels: tuple[str, ...]
) -> None:
    options = [part for kernel in kernels for part in ("-k", kernel)]
    done = mklkit("fit", two_sources, "--target", "state", *options, "--json")
    assert done.code == 0, done
    told = [note for note in done.json["choices"] if note.startswith("kernels auto: a: ")]
    assert len(told) == 1
    assert re.search(r"leave-one-out error \d\.\d\d", told[0])
