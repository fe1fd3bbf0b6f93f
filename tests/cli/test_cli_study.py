"""Commands on the files of a study, and a saved model on another cohort."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.documents import SHARED_SOURCES
from helpers.processes import Run
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix

pytestmark = pytest.mark.process

IDS = [f"p{number:03}" for number in range(90)]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two cohorts of a study; the second lacks the source ``prot``."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(1)
    ill = np.arange(90) % 2
    parts = {
        "clinical": pd.DataFrame({"age": rng.normal(50, 9, 90), "ill": np.where(ill, "yes", "no")}),
        "genes": pd.DataFrame(rng.normal(size=(90, 12)) + 0.5 * ill[:, None]),
        "prot": pd.DataFrame(rng.normal(size=(90, 4)) + 0.5 * ill[:, None]),
    }
    for name, part in parts.items():
        frame = part if name == "clinical" else part.add_prefix("v")
        frame = pd.concat([pd.Series(IDS, name="patient"), frame], axis=1)
        cohorts = {"first": frame[:60], "second": frame[60:]}
        for cohort, rows in cohorts.items():
            some = rows if name == "clinical" else rows.sample(frac=0.8, random_state=2)
            some.to_csv(folder / f"{cohort}_{name}.csv", index=False)
    return folder


def files(folder: Path, cohort: str, *sources: str) -> list[str]:
    """Return the arguments that name the files of a cohort."""
    named = [f"{source}={folder}/{cohort}_{source}.csv" for source in sources]
    return [f"{folder}/{cohort}_clinical.csv", *(word for n in named for word in ("--source", n))]


@pytest.fixture(scope="module")
def model(study: Path, mklkit: Run) -> Path:
    """Return the file of a model of the first cohort."""
    path = study / "model.mkl"
    data = files(study, "first", "genes", "prot")
    done = mklkit("fit", *data, "--by", "patient", "-t", "ill", "-o", str(path))
    assert done.code == 0, done
    return path


def test_each_source_gets_a_kernel(study: Path, mklkit: Run) -> None:
    data = files(study, "first", "genes", "prot")
    done = mklkit("fit", *data, "--by", "patient", "-t", "ill", "--json")
    assert done.code == 0, done
    record = done.json
    assert [kernel["name"] for kernel in record["model"]["kernels"]] == [
        "first_clinical",
        "genes",
        "prot",
    ]
    assert record["data"]["joined_by"] == "patient"
    assert record["data"]["sources"] == {"first_clinical": 1, "genes": 12, "prot": 4}
    assert record["data"]["target"] == "ill"


@pytest.mark.parametrize(
    "command",
    [("evaluate", "--cv", "3"), ("kernels",), ("compare", "-c", "uniform", "--cv", "2x1")],
    ids=lambda command: command[0],
)
def test_commands_take_the_files(command: tuple[str, ...], study: Path, mklkit: Run) -> None:
    name, *options = command
    data = files(study, "first", "genes", "prot")
    done = mklkit(name, *data, "--by", "patient", "-t", "ill", *options, "--json")
    assert done.code == 0, done
    assert "genes" in done.out
    assert "prot" in done.out


@pytest.mark.parametrize("kernels", ["", "genes:linear prot:rbf first_clinical:rbf"])
def test_a_fit_in_parts_is_that_in_memory(kernels: str, study: Path, mklkit: Run) -> None:
    data = files(study, "first", "genes", "prot")
    named = [word for kernel in kernels.split() for word in ("-k", kernel)]
    done = [
        mklkit("fit", *data, "--by", "patient", "-t", "ill", *named, "--json", *options)
        for options in ((), ("--stream",))
    ]
    assert done[1].code == 0, done[1]
    whole, parts = (each.json for each in done)
    for part in ("train", "held_out"):
        assert parts["scores"][part] == whole["scores"][part]
    for fact in ("joined_by", "sources", "rows", "columns", "target"):
        assert parts["data"][fact] == whole["data"][fact]


def test_kernels_are_labelled_like_their_source(study: Path, mklkit: Run) -> None:
    data = files(study, "first", "genes", "prot")
    kernels = ("-k", "genes:linear", "-k", "prot:rbf", "-k", "first_clinical:rbf")
    done = mklkit("fit", *data, "--by", "patient", "-t", "ill", *kernels, "--json")
    columns = [kernel["columns"] for kernel in done.json["model"]["kernels"]]
    assert [len(each) for each in columns] == [12, 4, 1]


def test_predictions_have_the_identifiers_in_their_order(
    study: Path, model: Path, mklkit: Run
) -> None:
    path = study / "predictions.csv"
    done = mklkit("predict", str(model), *files(study, "second", "genes"), "-o", str(path))
    assert done.code == 0, done
    assert "no sample has the source 'prot'" in done.err
    clinical = pd.read_csv(study / "second_clinical.csv")
    assert pd.read_csv(path)["patient"].tolist() == clinical["patient"].tolist()


def test_samples_without_a_prediction_are_named(study: Path, mklkit: Run, tmp_path: Path) -> None:
    outcomes, genes = tmp_path / "outcomes.csv", study / "first_genes.csv"
    pd.read_csv(study / "first_clinical.csv")[["patient", "ill"]].to_csv(outcomes, index=False)
    source = ("--source", f"genes={genes}")
    model = str(tmp_path / "m.mkl")
    done = mklkit("fit", str(outcomes), *source, "--by", "patient", "-t", "ill", "-o", model)
    assert done.code == 0, done
    done = mklkit("predict", model, str(outcomes), *source)
    ids = pd.read_csv(outcomes)["patient"]
    first = ids[~ids.isin(pd.read_csv(genes)["patient"])].iloc[0]
    assert "12 samples of 60 have no prediction" in done.err
    assert f"samples '{first}'" in done.err


class TestScore:
    """``mklkit score`` on the second cohort, whose predictions the test has by ``predict``."""

    def test_scores_are_those_of_the_predictions(
        self, study: Path, model: Path, mklkit: Run
    ) -> None:
        data = files(study, "second", "genes")
        result = mklkit("score", str(model), *data, "--json").json
        path = study / "answers.csv"
        assert mklkit("predict", str(model), *data, "-o", str(path)).code == 0
        answers = pd.read_csv(path)
        truth = pd.read_csv(study / "second_clinical.csv")["ill"]
        scores = result["scores"]["all"]
        assert scores["accuracy"] == pytest.approx(accuracy_score(truth, answers["prediction"]))
        assert scores["balanced_accuracy"] == pytest.approx(
            balanced_accuracy_score(truth, answers["prediction"])
        )
        expected = confusion_matrix(truth, answers["prediction"]).tolist()
        assert scores["confusion"] == expected
        low, high = result["intervals"]["all"]["accuracy"]
        assert low < scores["accuracy"] < high

    def test_the_report_has_intervals(self, study: Path, model: Path, mklkit: Run) -> None:
        done = mklkit("score", str(model), *files(study, "second", "genes"))
        assert done.code == 0, done
        assert "95 % CI" in done.out
        assert "--probability" in done.err

    def test_the_identifier_may_group_samples(self, study: Path, model: Path, mklkit: Run) -> None:
        data = [str(model), *files(study, "second", "genes"), "--json"]
        alone, grouped = (mklkit("score", *data, *g).json for g in ((), ("--groups", "patient")))
        assert grouped["scores"] == alone["scores"]
        # Groups of one sample each are drawn as samples are; those of Wilson have no draws.
        ends = [np.diff(r["intervals"]["all"]["auc"]) for r in (alone, grouped)]
        assert ends[0] == pytest.approx(ends[1], rel=0.2)

    def test_one_class_is_scored(self, study: Path, model: Path, mklkit: Run) -> None:
        table = pd.read_csv(study / "second_clinical.csv").query("ill == 'yes'")
        table.to_csv(study / "ill.csv", index=False)
        genes = f"genes={study}/second_genes.csv"
        done = mklkit("score", str(model), str(study / "ill.csv"), "--source", genes)
        assert done.code == 0, done
        assert "not defined" in done.out

    def test_a_second_target_is_an_error(self, study: Path, model: Path, mklkit: Run) -> None:
        data = files(study, "second", "genes")
        done = mklkit("score", str(model), *data, "-t", "ill", "-t", "genes_v0")
        assert done.code == 2
        assert "names 2: 'ill', 'genes_v0'" in done.err

    def test_shifts_and_training_rows_are_told(self, study: Path, model: Path, mklkit: Run) -> None:
        genes = pd.read_csv(study / "second_genes.csv")
        genes.assign(v3=genes["v3"] + 5).to_csv(study / "shifted_genes.csv", index=False)
        clinical = str(study / "second_clinical.csv")
        sources = ("--source", f"genes={study}/shifted_genes.csv")
        for command in ("score", "predict"):
            done = mklkit(command, str(model), clinical, *sources)
            assert "1 of 13 numeric columns has shifted" in done.err, done
            assert "'genes_v3' +" in done.err
            assert "training samples of the model" not in done.err
        result = mklkit("score", str(model), clinical, *sources, "--json").json
        shifts = {row["column"]: row for row in result["shifts"]}
        first = pd.read_csv(study / "first_genes.csv")["v3"]
        expected = (genes["v3"].mean() + 5 - first.mean()) / first.std()
        assert shifts["genes_v3"]["shift"] == pytest.approx(expected)
        for command in ("score", "predict"):
            done = mklkit(command, str(model), *files(study, "first", "genes", "prot"))
            assert "60 of 60 samples are training samples of the model (with the same" in done.err
            assert "identifiers of training samples" not in done.err
            done = mklkit(command, str(model), *files(study, "first", "genes"))
            # Rows that lack a source in training too have the same values.
            told = " samples have the identifiers of training samples (by 'patient') but"
            assert told in done.err

    def test_the_methods_tell_what_was_joined(self, model: Path, mklkit: Run) -> None:
        done = mklkit("inspect", str(model), "--methods")
        assert "Samples of 3 sources (first_clinical, 1 column; genes, 12 columns; " in done.out
        assert "were joined by patient: 60 samples, of which " in done.out

    def test_an_unknown_class_is_named(self, study: Path, model: Path, mklkit: Run) -> None:
        table = pd.read_csv(study / "second_clinical.csv").assign(ill="perhaps")
        table.to_csv(study / "perhaps.csv", index=False)
        genes = f"genes={study}/second_genes.csv"
        done = mklkit("score", str(model), str(study / "perhaps.csv"), "--source", genes)
        assert done.code == 2
        assert "'perhaps'" in done.err


def test_the_identifier_may_group_the_rows_of_a_fit(study: Path, mklkit: Run) -> None:
    data = files(study, "first", "genes", "prot")
    options = ("--by", "patient", "-t", "ill", "--groups", "patient", "--cv", "3")
    done = mklkit("evaluate", *data, *options, "--json")
    assert done.code == 0, done
    assert done.json["data"]["groups"] == "patient"


def test_several_targets_are_learned_together(study: Path, mklkit: Run, tmp_path: Path) -> None:
    genes = [str(study / f"{cohort}_genes.csv") for cohort in ("first", "second")]
    targets, path = ("-t", "v0", "-t", "v1"), str(tmp_path / "m.mkl")
    done = mklkit(
        "fit", genes[0], "--drop", "patient", *targets, "--task", "regression", "-o", path
    )
    assert done.code == 0, done
    scored = mklkit("score", path, genes[1], *targets, "--json").json
    answers = tmp_path / "answers.csv"
    assert mklkit("predict", path, genes[1], "-o", str(answers)).code == 0
    truth = pd.read_csv(genes[1])[["v0", "v1"]].to_numpy()
    error = np.abs(pd.read_csv(answers).to_numpy() - truth).mean()
    assert scored["scores"]["all"]["mean_absolute_error"] == pytest.approx(error)
    done = mklkit("score", path, genes[1], "-t", "v0")
    assert done.code == 2
    assert "predicts 2 columns" in done.err


def test_explain_takes_the_files(study: Path, model: Path, mklkit: Run) -> None:
    data = files(study, "first", "genes", "prot")
    done = mklkit("explain", str(model), *data, "--cv", "2x1", "--json")
    assert done.code == 0, done
    assert {*done.json["kernels"][0]} >= {"kernel"}


WRONG = {
    "no --by": (("--source", "genes={}/first_genes.csv"), "--by"),
    "no such column": (("--by", "person"), "'person'"),
    "no name": (("--source", "{}/first_genes.csv", "--by", "patient"), "NAME=FILE"),
    "one name twice": (
        ("--source", "g={}/first_genes.csv", "--source", "g={}/first_prot.csv", "--by", "patient"),
        "'g'",
    ),
    "no such file": (("--source", "g={}/genes.csv", "--by", "patient"), "genes.csv"),
    "kernels on text in parts": (
        ("--source", "g={}/first_genes.csv", "--by", "patient", "--stream", "-k", "g:spectrum"),
        "--stream",
    ),
}


@pytest.mark.parametrize(("options", "named"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_named(
    options: tuple[str, ...], named: str, study: Path, mklkit: Run
) -> None:
    words = [word.replace("{}", str(study)) for word in options]
    done = mklkit("fit", f"{study}/first_clinical.csv", "-t", "ill", *words)
    assert done.code == 2, done
    assert named in done.err


def test_an_output_is_none_of_the_files(study: Path, mklkit: Run) -> None:
    data = files(study, "first", "genes")
    output = str(study / "first_genes.csv")
    done = mklkit("fit", *data, "--by", "patient", "-t", "ill", "-o", output)
    assert done.code == 2
    assert "first_genes.csv" in done.err


STUDIES = {"prokaryotic": ("genes", "composition", "text"), "proteinfold": ()}


@pytest.mark.parametrize("name", STUDIES)
def test_real_studies_cut_into_files(name: str, mklkit: Run, tmp_path: Path) -> None:
    """Two cohorts, of which the second lacks a source; scores are those of its predictions."""
    folder = SHARED_SOURCES / name
    if not folder.is_dir():
        pytest.skip("the data sets are not here")
    rng = np.random.default_rng(0)
    labels = pd.read_csv(folder / "labels.csv", dtype=str)
    paths = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.csv.gz"))}
    sources = list(STUDIES[name]) or list(paths)[:3]
    order = rng.permutation(len(labels))
    cohorts = {"first": order[:300], "second": order[300:500]}
    arguments: dict[str, list[str]] = {}
    for cohort, places in cohorts.items():
        outcomes = tmp_path / f"{cohort}.csv"
        labels.iloc[places].to_csv(outcomes, index=False)
        arguments[cohort] = [str(outcomes)]
        for source in sources if cohort == "first" else sources[:-1]:
            frame = pd.read_csv(paths[source], dtype={"id": str}).set_index("id")
            ids = rng.permutation(labels["id"].iloc[places])[: len(places) * 4 // 5]
            path = tmp_path / f"{cohort}_{source}.csv"
            frame.loc[ids].to_csv(path)
            arguments[cohort] += ["--source", f"{source}={path}"]
    model, answers = tmp_path / "m.mkl", tmp_path / "answers.csv"
    done = mklkit("fit", *arguments["first"], "--by", "id", "-t", "label", "-o", str(model))
    assert done.code == 0, done
    scored = mklkit("score", str(model), *arguments["second"], "--json")
    assert scored.code == 0, scored
    assert mklkit("predict", str(model), *arguments["second"], "-o", str(answers)).code == 0
    predicted = pd.read_csv(answers, dtype=str).set_index("id")["prediction"].dropna()
    truth = labels.set_index("id")["label"].loc[predicted.index]
    result = scored.json["scores"]
    assert result["all"]["rows"] == len(predicted)
    assert result["all"]["accuracy"] == pytest.approx((predicted == truth).mean())
    assert result["all"]["accuracy"] > truth.value_counts(normalize=True).max()
    assert result["complete"] is None
