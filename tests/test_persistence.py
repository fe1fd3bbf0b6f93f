"""Model files: exact round trips, refused strangers, and no code run from a file."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from mklkit.datasets import load_table
from mklkit.ensembles import MKLVotingClassifier
from mklkit.errors import DataError, MKLKitWarning, ModelFileError
from mklkit.estimators import MKLClassifier
from mklkit.persistence import (
    check_writable,
    json_ready,
    load_model,
    read_facts,
    replacing,
    save_model,
)
from mklkit.preprocessing import build_pipeline
from mklkit.registry import get_registry
from mklkit.selection.ifsl_cv import IFSLClassifierCV


def fitted(table: pd.DataFrame, labels: Any, **parameters: Any) -> Any:
    return build_pipeline(MKLClassifier(**parameters)).fit(table, labels)


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(40, 3)), columns=["a", "b", "c"])
    frame["word"] = np.where(frame["a"] > 0, "up", "down")
    frame.loc[::7, "b"] = np.nan
    return frame


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """A model file to be copied and spoilt."""
    path = tmp_path_factory.mktemp("models") / "model.mkl"
    save_model(fitted(mixed, [0, 1] * 20), path, {"data": {"name": "toy"}})
    return path


def rewritten(source: Path, goal: Path, **members: Any) -> Path:
    """Copy a model file with some members replaced by functions of their JSON."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(goal, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            change = members.get(name.partition(".")[0])
            if change is not None:
                content = json.dumps(change(json.loads(content))).encode()
            new.writestr(name, content)
    return goal


class TestRoundTrip:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"combiner": combiner.name}
            for combiner in get_registry().entries("combiner")
            if combiner.distribution == "mklkit"
        ]
        + [
            {"feature_map": "empirical(subset=0.5)", "learner": "mhks", "random_state": 0},
            {"feature_map": "implicit", "learner": "kmhks"},
            {"kernels": ["first:rbf(gamma=0.5)@a,b", "cosine(linear)", "laplacian", "tanh"]},
        ],
        ids=str,
    )
    def test_every_component_predicts_exactly_as_before(
        self, tmp_path: Path, mixed: pd.DataFrame, parameters: dict[str, Any]
    ) -> None:
        model = fitted(mixed, [0, 1] * 20, **parameters)
        save_model(model, tmp_path / "model.mkl")
        again, _ = load_model(tmp_path / "model.mkl")
        np.testing.assert_array_equal(
            again.decision_function(mixed), model.decision_function(mixed)
        )

    @pytest.mark.parametrize(
        "labels",
        [
            ["no", "yes"] * 20,
            [7, -3] * 20,
            [True, False] * 20,
            ["ä", "ö", "ü", "ß"] * 10,
            pd.Series(["x", "y"] * 20, dtype="category"),
            pd.Series(["x", "y"] * 20, dtype="str"),
        ],
        ids=["text", "int", "bool", "several", "category", "str"],
    )
    @pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
    def test_labels_keep_value_and_type(
        self, tmp_path: Path, mixed: pd.DataFrame, labels: Any, multiclass: str
    ) -> None:
        model = fitted(mixed, np.asarray(labels), multiclass=multiclass)
        save_model(model, tmp_path / "model.mkl")
        again, facts = load_model(tmp_path / "model.mkl")
        assert again.classes_.tolist() == model.classes_.tolist()
        assert again.classes_.dtype == model.classes_.dtype
        assert facts["model"]["classes"] == model.classes_.tolist()
        expected = "binary" if len(model.classes_) == 2 else multiclass
        assert facts["model"]["multiclass"] == expected
        assert again.predict(mixed).tolist() == model.predict(mixed).tolist()

    @pytest.mark.process
    def test_another_process_predicts_the_same(self, tmp_path: Path) -> None:
        table = load_table("wine")
        model = fitted(table.features, table.target, combiner="dimkl3")
        save_model(model, tmp_path / "model.mkl")
        script = (
            "import sys; from mklkit.persistence import load_model;"
            "from mklkit.datasets import load_table; import numpy as np;"
            "model, _ = load_model(sys.argv[1]);"
            "np.save(sys.argv[2], model.decision_function(load_table('wine').features))"
        )
        arguments = [str(tmp_path / "model.mkl"), str(tmp_path / "scores.npy")]
        subprocess.run([sys.executable, "-c", script, *arguments], check=True)
        np.testing.assert_array_equal(
            np.load(tmp_path / "scores.npy"), model.decision_function(table.features)
        )

    def test_a_classifier_alone_can_be_saved(self, tmp_path: Path) -> None:
        rows = np.random.default_rng(0).normal(size=(20, 2))
        model = MKLClassifier(kernels=["rbf"]).fit(rows, [0, 1] * 10)
        save_model(model, tmp_path / "model.mkl")
        again, _ = load_model(tmp_path / "model.mkl")
        np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))

    def test_votes_and_searches_can_be_saved(self, tmp_path: Path) -> None:
        table = load_table("iris")
        rows, labels = table.features.to_numpy(), table.target.to_numpy()
        vote = MKLVotingClassifier(
            MKLClassifier(feature_map="empirical(subset=0.3)", learner="mhks"), random_state=0
        )
        search = IFSLClassifierCV(kernels=["linear", "rbf"], ridges=(1.0,), lams=(1.0, 2.0), cv=2)
        for model in (vote, search):
            save_model(model.fit(rows, labels), tmp_path / "model.mkl")
            again, facts = load_model(tmp_path / "model.mkl")
            assert again.predict(rows).tolist() == model.predict(rows).tolist()
            assert facts["model"]["classes"] == ["setosa", "versicolor", "virginica"]
            assert facts["model"]["multiclass"] == "ovo"
        assert [row["name"] for row in facts["model"]["kernels"]] == ["linear", "rbf"]
        assert facts["model"]["combiner"].startswith("ifsl")

    def test_facts_name_components_and_weights(self, saved: Path, mixed: pd.DataFrame) -> None:
        facts = read_facts(saved)
        assert facts["data"] == {"name": "toy"}
        model = facts["model"]
        assert [kernel["name"] for kernel in model["kernels"]] == [
            "linear",
            "rbf(sigma='mean')",
            "polynomial",
        ]
        assert model["combiner"] == "uniform"
        assert [row["weight"] for row in model["weights"]] == pytest.approx([1 / 3] * 3)
        assert facts["plugins"] == []


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(plain_values)
def test_facts_of_any_plain_value_survive(value: Any) -> None:
    assert json.loads(json.dumps(json_ready(value), allow_nan=False)) == value


def test_facts_from_numpy_become_plain() -> None:
    made = json_ready(
        {1: (np.int8(3), np.bool_(True), np.str_("x"), np.float64("inf")), "a": np.eye(2)}
    )
    assert made == {"1": [3, True, "x", None], "a": [[1.0, 0.0], [0.0, 1.0]]}
    assert json.dumps(made, allow_nan=False)
    with pytest.raises(TypeError, match="can't be kept"):
        json_ready({"f": len})


class Stranger(ClassifierMixin, BaseEstimator):
    """An estimator that no one registered."""

    def fit(self, X: Any, y: Any) -> Stranger:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[0], len(X))


class TestSaving:
    def test_what_could_not_be_loaded_is_not_saved(self, tmp_path: Path) -> None:
        goal = tmp_path / "model.mkl"
        goal.write_bytes(b"precious")
        model = Stranger().fit([[0.0]], [1])
        with pytest.raises(ModelFileError, match="Stranger' is registered neither"):
            save_model(model, goal)
        model.helper = lambda x: x
        with pytest.raises(ModelFileError, match="can't be saved"):
            save_model(model, goal)
        assert goal.read_bytes() == b"precious"
        assert os.listdir(tmp_path) == ["model.mkl"]

    def test_facts_that_are_not_plain_are_refused(self, tmp_path: Path, saved: Path) -> None:
        model, _ = load_model(saved)
        with pytest.raises(ModelFileError, match="facts can't be saved"):
            save_model(model, tmp_path / "a.mkl", {"function": len})
        with pytest.raises(ModelFileError, match="versions: reserved"):
            save_model(model, tmp_path / "a.mkl", {"versions": 1})
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("thing", "message"),
        [
            ([1, 2], "Expected a fitted classifier .* got .1, 2."),
            ({"a": 1}, "Expected a fitted classifier"),
            (MKLClassifier, "Expected a fitted classifier"),
            (MKLClassifier(), "MKLClassifier is not fitted: fit it first"),
        ],
    )
    def test_what_is_no_fitted_model_replaces_none(
        self, tmp_path: Path, thing: Any, message: str
    ) -> None:
        goal = tmp_path / "model.mkl"
        goal.write_bytes(b"precious")
        with pytest.raises(ModelFileError, match=message):
            save_model(thing, goal)
        assert goal.read_bytes() == b"precious"

    def test_a_search_says_what_of_it_to_save(self, tmp_path: Path, mixed: pd.DataFrame) -> None:
        rows = mixed.select_dtypes("number").fillna(0).to_numpy()
        search = GridSearchCV(MKLClassifier("rbf"), {"learner": ["svm"]}, cv=2)
        search.fit(rows, [0, 1] * (len(rows) // 2))
        with pytest.raises(ModelFileError, match="best_estimator_"):
            save_model(search, tmp_path / "model.mkl")

    def test_a_path_before_the_model_is_refused(self, tmp_path: Path, saved: Path) -> None:
        model, _ = load_model(saved)
        with pytest.raises(DataError, match="the model, then the path"):
            save_model(tmp_path / "a.mkl", model)

    def test_an_interrupted_write_leaves_the_old_file(self, tmp_path: Path) -> None:
        goal = tmp_path / "model.mkl"
        goal.write_bytes(b"precious")

        def interrupted() -> None:
            with replacing(goal) as file:
                file.write(b"half")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert goal.read_bytes() == b"precious"
        assert os.listdir(tmp_path) == ["model.mkl"]

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").write_bytes(b"old")
        (tmp_path / "link").symlink_to(tmp_path / "real")
        with replacing(tmp_path / "link") as file:
            file.write(b"new")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real").read_bytes() == b"new"

    def test_where_nothing_can_be_written_is_said_beforehand(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="there is no folder"):
            check_writable(tmp_path / "missing" / "model.mkl")
        with pytest.raises(DataError, match="is a folder"):
            check_writable(tmp_path)
        check_writable(tmp_path / "model.mkl")
        assert os.listdir(tmp_path) == []


class TestBrokenFiles:
    @pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99, 0.9999])
    def test_truncated(self, tmp_path: Path, saved: Path, share: float) -> None:
        whole = saved.read_bytes()
        path = tmp_path / "model.mkl"
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ModelFileError, match=r"model\.mkl (is empty|is not|is damaged)"):
            load_model(path)

    def test_flipped_bytes_never_go_unnoticed_or_crash(self, tmp_path: Path, saved: Path) -> None:
        whole = saved.read_bytes()
        path = tmp_path / "model.mkl"
        refused = 0
        for place in np.random.default_rng(0).integers(0, len(whole), 40):
            spoilt = bytearray(whole)
            spoilt[place] ^= 0xFF
            path.write_bytes(spoilt)
            try:
                load_model(path)
            except ModelFileError:
                refused += 1
        # What is left are bytes that nobody reads: dates, the second copy of a length.
        assert refused >= 30

    def test_foreign_files(self, tmp_path: Path) -> None:
        path = tmp_path / "model.mkl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "hello")
        with pytest.raises(ModelFileError, match="not written by mklkit"):
            load_model(path)
        path.write_text("a,b\n1,2\n")
        with pytest.raises(ModelFileError, match="not a model file"):
            load_model(path)
        with pytest.raises(ModelFileError, match="folder"):
            load_model(tmp_path)
        with pytest.raises(ModelFileError, match="no model file"):
            load_model(tmp_path / "missing.mkl")

    @pytest.mark.parametrize("facts", [[], {}, {"format": "1"}, None, 3])
    def test_facts_of_another_shape(self, tmp_path: Path, saved: Path, facts: Any) -> None:
        path = rewritten(saved, tmp_path / "model.mkl", mklkit=lambda _: facts)
        with pytest.raises(ModelFileError, match="damaged"):
            load_model(path)

    @pytest.mark.parametrize(
        "schema",
        [None, [], {}, {"protocol": 0}, {"protocol": 2, "__loader__": "NoSuchNode"}],
    )
    def test_schema_of_another_shape(self, tmp_path: Path, saved: Path, schema: Any) -> None:
        path = rewritten(saved, tmp_path / "model.mkl", schema=lambda _: schema)
        with pytest.raises(ModelFileError, match="damaged"):
            load_model(path)


class TestVersions:
    @pytest.mark.parametrize(("version", "age"), [("0.0.1", "an older"), ("99.1", "a newer")])
    def test_another_version_is_said(
        self, tmp_path: Path, saved: Path, version: str, age: str
    ) -> None:
        def older(facts: dict[str, Any]) -> dict[str, Any]:
            return {**facts, "versions": {**facts["versions"], "mklkit": version}}

        path = rewritten(saved, tmp_path / "model.mkl", mklkit=older)
        with pytest.warns(MKLKitWarning, match=f"mklkit {version}, {age} version"):
            load_model(path)

    def test_a_newer_format_is_refused(self, tmp_path: Path, saved: Path) -> None:
        path = rewritten(saved, tmp_path / "model.mkl", mklkit=lambda facts: facts | {"format": 2})
        with pytest.raises(ModelFileError, match="upgrade mklkit"):
            load_model(path)


def node(loader: str, module: str, name: str, **more: Any) -> dict[str, Any]:
    return {"__class__": name, "__module__": module, "__loader__": loader, **more}


def json_node(value: Any) -> dict[str, Any]:
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def list_node(*items: Any) -> dict[str, Any]:
    return node("ListNode", "builtins", "list", content=list(items))


def tuple_node(*items: Any) -> dict[str, Any]:
    return node("TupleNode", "builtins", "tuple", content=list(items))


def dict_node(**items: Any) -> dict[str, Any]:
    keys = list_node(*(node("TypeNode", "builtins", "str") for _ in items))
    return node("DictNode", "builtins", "dict", content=items, key_types=keys)


def function_node(module: str, name: str) -> dict[str, Any]:
    # Protocol 0 has the function in the content, later ones in the node itself.
    return node("FunctionNode", module, name, content={"module_path": module, "function": name})


def attacks(module: str) -> dict[str, dict[str, Any]]:
    """Return skops nodes, each of which would import ``module`` or call something if obeyed."""
    touch = json_node(f"import {module}")
    return {
        "object": node("ObjectNode", module, "Thing", content=dict_node()),
        "function": function_node(module, "run"),
        "type": node("TypeNode", module, "Thing"),
        "constructor": node(
            "ConstructorFromReduceNode", module, "Thing", content=tuple_node(touch)
        ),
        "eval": node("ConstructorFromReduceNode", "builtins", "exec", content=tuple_node(touch)),
        "partial": node(
            "PartialNode",
            "functools",
            "partial",
            content={
                "func": function_node("builtins", "exec"),
                "args": tuple_node(touch),
                "kwds": dict_node(),
                "namespace": json_node(None),
            },
        ),
        "keys": node(
            "DictNode",
            "builtins",
            "dict",
            content={f"import {module}": json_node(1)},
            key_types=list_node(node("TypeNode", "builtins", "exec")),
        ),
        "list": node("ListNode", module, "Thing", content=[]),
        "method": node(
            "MethodNode",
            "sklearn.pipeline",
            "Pipeline",
            content={
                "func": "fit",
                "obj": node("ObjectNode", "sklearn.pipeline", "Pipeline", content=dict_node()),
            },
        ),
        "operator": node(
            "OperatorFuncNode", "operator", "attrgetter", attrs=tuple_node(json_node("__class__"))
        ),
    }


class TestNoCodeIsRun:
    @pytest.mark.parametrize("kind", sorted(attacks("x")))
    @pytest.mark.parametrize("protocol", [0, 1, 2])
    def test_types_that_nobody_registered(
        self,
        tmp_path: Path,
        saved: Path,
        monkeypatch: pytest.MonkeyPatch,
        kind: str,
        protocol: int,
    ) -> None:
        module = f"mklkit_attack_{kind}_{protocol}"
        trace = tmp_path / "trace"
        source = f"open({str(trace)!r}, 'w').close()\nclass Thing(list): pass\ndef run(): pass\n"
        (tmp_path / f"{module}.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)

        def attacked(schema: dict[str, Any]) -> dict[str, Any]:
            # Hidden deep in an otherwise genuine model.
            schema["content"]["content"]["memory"] = attacks(module)[kind]
            return schema | {"protocol": protocol}

        path = rewritten(saved, tmp_path / "model.mkl", schema=attacked)
        with pytest.raises(ModelFileError) as refused:
            load_model(path)
        assert module not in sys.modules
        assert not trace.exists()
        named = {
            "eval": "builtins.exec",
            "partial": "functools.partial",
            "keys": "builtins.exec",
            "method": "sklearn.pipeline.Pipeline.fit",
            "operator": "operator.attrgetter",
        }.get(kind, module)
        assert named in str(refused.value)
        # The attack is real: without the audit of types, the module would have been imported.
        if kind in ("object", "constructor", "list", "type") and protocol == 2:
            _load_without_audit(path)
            assert trace.exists()

    def test_pickles_are_foreign(self, tmp_path: Path) -> None:
        class Trap:
            def __reduce__(self) -> Any:
                return (open, (str(tmp_path / "trace"), "w"))

        path = tmp_path / "model.mkl"
        path.write_bytes(pickle.dumps(Trap()))
        with pytest.raises(ModelFileError, match="not a model file"):
            load_model(path)
        assert not (tmp_path / "trace").exists()

    def test_arrays_are_never_unpickled(self, tmp_path: Path, saved: Path) -> None:
        buffer = io.BytesIO()
        np.save(buffer, np.array([print, None], dtype=object), allow_pickle=True)
        path = tmp_path / "model.mkl"
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                new.writestr(name, buffer.getvalue() if name.endswith(".npy") else old.read(name))
        with pytest.raises(ModelFileError, match="damaged"):
            load_model(path)

    def test_absent_plugin_is_named(self, tmp_path: Path, saved: Path) -> None:
        lost = "mklkit_lost.rules.Rule"

        def lose(schema: dict[str, Any]) -> dict[str, Any]:
            schema["content"]["content"]["memory"] = node("ObjectNode", "mklkit_lost.rules", "Rule")
            return schema

        def record(facts: dict[str, Any]) -> dict[str, Any]:
            plugin = {"distribution": "mklkit-lost", "version": "1.2", "types": [lost]}
            return facts | {"plugins": [plugin, "nonsense", {"distribution": "a b; rm"}]}

        path = rewritten(saved, tmp_path / "model.mkl", schema=lose, mklkit=record)
        with pytest.raises(ModelFileError, match=f"(?s){lost}.*plugin mklkit-lost: install"):
            load_model(path)


def _load_without_audit(path: Path) -> None:
    from skops.io import get_untrusted_types, load

    with suppress(Exception):  # whatever comes after the import
        load(path, trusted=get_untrusted_types(file=path))
