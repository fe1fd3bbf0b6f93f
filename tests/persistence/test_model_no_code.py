"""Nothing in a model file is imported or run that is not trusted."""

from __future__ import annotations

import io
import pickle
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crafted import (
    Check,
    attacks,
    copied,
    dict_node,
    function_node,
    hiding,
    json_node,
    list_node,
    node,
    rewritten,
    tuple_node,
    with_array,
)
from scipy.sparse import csr_matrix, save_npz
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import SparseRandomProjection

from mklkit.errors import ModelFileError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.persistence import load_model, save_model
from mklkit.persistence.trust import KNOWN_TYPES


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

        attacked = hiding(attacks(module)[kind], protocol)
        path = rewritten(saved, tmp_path / "model.mkl", schema=attacked)
        with pytest.raises(ModelFileError) as refused:
            load_model(path)
        assert module not in sys.modules
        assert not trace.exists()
        named = {
            "eval": "builtins.exec",
            "partial": "functools.partial",
            "keys": "builtins.exec",
            "method": r"sklearn.pipeline.Pipeline (as MethodNode)",
            "operator": "operator.attrgetter",
        }.get(kind, module)
        assert (named if protocol == 2 else "protocol 2") in str(refused.value)
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

    def test_absent_plugin_is_named(self, check_refused: Check) -> None:
        lost = "mklkit_lost.rules.Rule"

        lose = hiding(node("ObjectNode", "mklkit_lost.rules", "Rule"))

        def record(metadata: dict[str, Any]) -> dict[str, Any]:
            plugin = {"distribution": "mklkit-lost", "version": "1.2", "types": [lost]}
            return metadata | {"plugins": [plugin, "nonsense", {"distribution": "a b; rm"}]}

        check_refused(f"(?s){lost}.*plugin mklkit-lost: install", schema=lose, mklkit=record)


def _load_without_audit(path: Path) -> None:
    from skops.io import get_untrusted_types, load

    with suppress(Exception):  # whatever comes after the import
        load(path, trusted=get_untrusted_types(file=path))


SCORE = "sklearn.feature_selection._univariate_selection"
MISPLACED = {
    "called": node("ConstructorFromReduceNode", SCORE, "f_classif", content=tuple_node()),
    "called on a list": node("ListNode", SCORE, "chi2", content=[]),
    "called on a key": node(
        "DictNode",
        "builtins",
        "dict",
        content={"x": json_node(1)},
        key_types=list_node(node("TypeNode", "numpy", "log1p")),
    ),
    "constructed": node(
        "ConstructorFromReduceNode",
        "sklearn.compose._column_transformer",
        "make_column_selector",
        content=tuple_node(),
    ),
    "component called on a path": node(
        "ConstructorFromReduceNode",
        "mklkit.kernels.precomputed",
        "Precomputed",
        content=tuple_node(json_node(None), json_node("/tmp/x.npy")),
    ),
    "component as a loss": node(
        "LossNode",
        "mklkit.kernels.precomputed",
        "Precomputed",
        content=dict_node(),
        __reduce__={"args": tuple_node(json_node(None), json_node("/tmp/x.npy"))},
    ),
    "component as a type": node("TypeNode", "mklkit.kernels.precomputed", "Precomputed"),
    "object of a function": node("ObjectNode", "numpy", "log1p", content=dict_node()),
}


class TestTypesTrustedInOnePlace:
    @pytest.mark.parametrize("kind", MISPLACED)
    def test_they_are_refused_elsewhere(self, check_refused: Check, kind: str) -> None:
        check_refused(r"is not loaded: .* \(as \w+Node\)", schema=hiding(MISPLACED[kind]))

    @pytest.mark.parametrize(
        ("module", "name"),
        [
            ("posix", "system"),
            ("numpy", "save"),
            ("numpy", "load"),
            ("joblib.numpy_pickle", "load"),
            ("sklearn.datasets._openml", "fetch_openml"),
            ("sklearn.utils._testing", "assert_run_python_script_without_output"),
        ],
    )
    def test_a_function_transformer_with_any_function(
        self, check_refused: Check, module: str, name: str
    ) -> None:
        step = node(
            "ObjectNode",
            "sklearn.preprocessing._function_transformer",
            "FunctionTransformer",
            content=dict_node(func=function_node(module, name)),
        )
        check_refused(f"'{module}.{name}'", schema=hiding(step))

    def test_what_is_trusted_by_its_name_is_there(self) -> None:
        for name in KNOWN_TYPES["ObjectNode"]:
            module, _, kind = name.rpartition(".")
            assert not name.startswith("mklkit") or kind in vars(import_module(module))
        for name in KNOWN_TYPES["FunctionNode"]:
            module, _, function = name.rpartition(".")
            with suppress(ModuleNotFoundError):  # some are of older or newer versions
                assert not isinstance(getattr(import_module(module), function, None), type)


class TestWhatCompiledCodeReads:
    """Indices that scikit-learn's and SciPy's compiled code would follow out of bounds."""

    def test_sparse_matrices(self, tmp_path: Path) -> None:
        rows = np.random.default_rng(0).normal(size=(20, 6))
        steps = SparseRandomProjection(2, random_state=0), MKLClassifier("rbf")
        save_model(make_pipeline(*steps).fit(rows, [0, 1] * 10), tmp_path / "good.mkl")
        crafted = csr_matrix((np.ones(1), [5], [0, 1, 1]), shape=(2, 6))
        crafted.indices[:] = 10**8
        buffer = io.BytesIO()
        save_npz(buffer, crafted)
        change = with_array(buffer.getvalue(), "npz")
        path = copied(tmp_path / "good.mkl", tmp_path / "model.mkl", change)
        with pytest.raises(ModelFileError, match=r"damaged: .*ind"):
            load_model(path)
