"""Files made to crash Python, or to take its memory or time, end in an error about the file."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crafted import Check, copied, dict_node, hiding, json_node, list_node, node, tuple_node
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.random_projection import SparseRandomProjection
from sklearn.svm import SVC
from skops.io import dumps

from mklkit.errors import ModelFileError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.numerics.pairwise import manhattan_distances, squared_distances
from mklkit.persistence import load_model, save_model
from mklkit.persistence.contents import check_arrays, check_parameters
from mklkit.persistence.metadata import versions

ROWS = np.random.default_rng(0).normal(size=(20, 6))
LABELS = np.repeat([0, 1], 10)
TEXTS = [f"word{place % 3} row" for place in range(20)]


def of_a_stranger(model: Any, path: Path) -> Path:
    """Write a model with skops alone, which asks for nothing, and plausible facts."""
    buffer = io.BytesIO(dumps(model))
    metadata = {"format": 1, "versions": versions(), "plugins": [], "trial": None, "model": {}}
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("mklkit.json", json.dumps(metadata))
    path.write_bytes(buffer.getvalue())
    return path


def altered(model: BaseEstimator, **state: Any) -> Any:
    vars(model).update(state)
    return model


def with_step(step: Any, rows: Any = ROWS, **state: Any) -> Pipeline:
    """Return a pipeline that is fitted, and then its first step altered."""
    model = make_pipeline(step, TruncatedSVD(2), LogisticRegression()).fit(rows, LABELS)
    altered(model[0], **state)
    return model


SUPPORT = np.array([2**28, 2**28], dtype=np.int32)
VOCABULARY = {"row": 10**8, "word0": 0, "word1": 1, "word2": 2}
# What crashed Python, or read beyond arrays, as it predicted.
CRASHES: dict[str, tuple[Callable[[], Any], Any]] = {
    "counts of support vectors": (
        lambda: altered(SVC().fit(ROWS, LABELS), _n_support=SUPPORT),
        ROWS,
    ),
    "coefficients": (
        lambda: altered(SVC().fit(ROWS, LABELS), _dual_coef_=np.zeros((0, 0))),
        ROWS,
    ),
    "neighbours": (
        lambda: altered(
            KNeighborsClassifier(algorithm="kd_tree").fit(ROWS, LABELS), _fit_X=ROWS[:, :1].copy()
        ),
        ROWS,
    ),
    "hashes": (lambda: with_step(HashingVectorizer(n_features=8), TEXTS, n_features=0), TEXTS),
    "words": (
        lambda: with_step(CountVectorizer(), TEXTS, vocabulary_=VOCABULARY),
        TEXTS,
    ),
    "categories": (
        lambda: with_step(
            OneHotEncoder(sparse_output=False),
            np.array(TEXTS)[:, None],
            _n_features_outs=[-(10**8)],
        ),
        np.array(TEXTS)[:, None],
    ),
}
PREDICTING = """
import sys
import numpy as np
from mklkit.errors import ModelFileError
from mklkit.persistence import load_model
for path in sys.argv[1:]:
    try:
        load_model(path).predict(np.load(path + ".npy"))
    except ModelFileError:
        print("told")
    else:
        print(path)
"""


@pytest.mark.process
def test_what_would_crash_compiled_code_is_not_loaded(tmp_path: Path) -> None:
    paths = [tmp_path / f"{kind}.mkl" for kind in CRASHES]
    for path, (model, rows) in zip(paths, CRASHES.values(), strict=True):
        of_a_stranger(model(), path)
        np.save(f"{path}.npy", np.asarray(rows))
    done = subprocess.run(
        [sys.executable, "-c", PREDICTING, *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == ["told"] * len(paths)


def npz(form: bytes, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    arrays = {"data": np.ones(2), "shape": np.array([2, 6])} | arrays
    np.savez(buffer, format=np.array(form), **arrays)
    return buffer.getvalue()


INDICES = {"indices": np.array([0, 2**28], np.int32), "indptr": np.array([0, 1, 2], np.int32)}
FITTING = {"indices": np.array([0, 1], np.int32), "indptr": np.array([0, 1, 2], np.int32)}
POINTERS = {"indices": np.array([0, 1], np.int32), "indptr": np.array([0, 2**28, 2], np.int32)}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (npz(b"bsr", **INDICES), "expected a 'csr_matrix', got 'bsr'"),
        (npz(b"csc", **INDICES), "expected a 'csr_matrix', got 'csc'"),
        (npz(b"dia", offsets=np.array([2**28])), "expected a 'csr_matrix', got 'dia'"),
        (npz(b"csr", _is_array=np.array(True), **INDICES), "expected a 'csr_matrix'"),
        (npz(b"csr", **INDICES), "indices"),
        (npz(b"csr", **POINTERS), "indptr"),
    ],
)
def test_sparse_matrices_are_of_their_class_and_within_bounds(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    model = make_pipeline(SparseRandomProjection(2, random_state=0), MKLClassifier("rbf"))
    save_model(model.fit(ROWS, LABELS), tmp_path / "good.mkl")

    def change(name: str, old: bytes) -> bytes:
        return content if name.endswith("npz") else old

    path = copied(tmp_path / "good.mkl", tmp_path / "model.mkl", change)
    with pytest.raises(ModelFileError, match=reason):
        load_model(path)


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [(INDICES, "indices"), (POINTERS, "indptr"), ({**FITTING, "shape": (2, 9)}, "damaged|altered")],
)
def test_sparse_training_rows_are_within_bounds(
    arrays: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    words = {"words": csr_array(np.eye(6)[:2])}
    model = MKLClassifier("linear[none]").fit(words, [0, 1])
    save_model(model, tmp_path / "good.mkl")
    content = npz(b"csr", **{"_is_array": np.array(True), **arrays})

    def change(name: str, old: bytes) -> bytes:
        return content if name.endswith("npz") else old

    with pytest.raises(ModelFileError, match=reason):
        load_model(copied(tmp_path / "good.mkl", tmp_path / "model.mkl", change))


def header(dtype: Any, shape: tuple[int, ...]) -> bytes:
    """Return an array in NumPy's format that has a header only."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


def array_node(kind: str = "ndarray", **more: Any) -> dict[str, Any]:
    return node("NdArrayNode", "numpy", kind, type="numpy", file="evil.npy", **more)


def saved_array(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


ARRAYS: dict[str, tuple[dict[str, Any], bytes]] = {
    "text without letters": (array_node(), header("<U0", (10**9,))),
    "bytes without bytes": (array_node(), header("|S0", (10**9,))),
    "no columns": (array_node(), header("<f8", (10**12, 0))),
    "a size that is stated": (array_node(), header("<f8", (10**9,))),
    "a negative size": (array_node(), header("<f8", (-1, 1))),
    "records": (array_node(), header([("a", "<f8")], (0,))),
    "objects": (array_node(), header("|O", (10**8,))),
    "bytes of a number": (array_node("bytes_"), saved_array(np.array(3 * 10**9))),
    "records of a number": (array_node("void"), saved_array(np.array(3 * 10**9))),
    "one array many times in a table": (
        node(
            "NdArrayNode",
            "numpy",
            "ndarray",
            type="json",
            shape=tuple_node(json_node(9), json_node(1)),
            content=[list_node(array_node(__id__=7)) for _ in range(9)],
        ),
        saved_array(np.zeros(100, np.int8)),
    ),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_are_as_large_as_their_bytes(kind: str, tmp_path: Path, saved: Path) -> None:
    attack, content = ARRAYS[kind]

    def change(name: str, old: bytes) -> bytes:
        return json.dumps(hiding(attack)(json.loads(old))).encode() if "schema" in name else old

    path = copied(saved, tmp_path / "model.mkl", change, evil=content)
    with pytest.raises(ModelFileError, match=r"damaged|not loaded") as caught:
        load_model(path)
    assert "member" not in str(caught.value)


def generator(pool_size: int) -> dict[str, Any]:
    seeds = dict_node(
        entropy=json_node(1),
        spawn_key=tuple_node(),
        pool_size=json_node(pool_size),
        n_children_spawned=json_node(0),
    )
    bits = dict_node(bit_generator=json_node("PCG64"))
    content = {"bit_generator": bits, "seed_seq": seeds}
    return node("RandomGeneratorNode", "numpy.random._generator", "Generator", content=content)


NODES = {
    "a generator that mixes for hours": (generator(300_000), "Generator"),
    "lists as text": (json_node([[]] * 9), "plain value"),
    "slices of lists": (
        node("SliceNode", "builtins", "slice", content={"start": [1], "stop": 1, "step": 1}),
        "slice of whole numbers",
    ),
}


@pytest.mark.parametrize("kind", NODES)
def test_nodes_that_saving_never_writes(kind: str, check_refused: Check) -> None:
    attack, reason = NODES[kind]
    check_refused(reason, schema=hiding(attack))


@pytest.mark.parametrize(
    ("member", "values"),
    [("schema.json", b"[],"), ("mklkit.json", b"[],"), ("mklkit.json", b"1.5,")],
)
def test_json_is_not_parsed_if_it_has_too_many_values(
    member: str, values: bytes, tmp_path: Path, saved: Path
) -> None:
    def change(name: str, old: bytes) -> bytes:
        filling = values * 2_500_000
        return old.rstrip()[:-1] + b', "x": [' + filling + b"1]}" if name == member else old

    path = copied(saved, tmp_path / "model.mkl", change)
    with pytest.raises(ModelFileError, match=rf"{member} would hold"):
        load_model(path)


def test_indices_of_a_random_state() -> None:
    state = np.random.RandomState(0)
    check_arrays([state])
    key = state.get_state()[1]
    state.set_state(("MT19937", key, 10**8))
    with pytest.raises(ValueError, match="random state"):
        check_arrays([state])


WORDS = np.array(["x", "y", "z"] * 7, dtype=object)[:, None]


@pytest.mark.parametrize(
    "state",
    [
        {"_n_features_outs": [3]},
        {"_n_features_outs": [3, 0]},
        {"categories_": []},
        {"categories_": [np.array([3.0, 1.0, 2.0])]},
        {"_drop_idx_after_grouping": np.array([10**6], dtype=object)},
        {"_default_to_infrequent_mappings": [np.array([10**8] * 3)]},
        {"_infrequent_indices": [None]},
    ],
)
def test_columns_of_encoders(state: dict[str, Any]) -> None:
    encoder = OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist").fit(WORDS)
    check_arrays(encoder)
    with pytest.raises(ValueError, match=r"encoder|argument|shorter|longer"):
        check_arrays(altered(encoder, **state))


@pytest.mark.parametrize("drop", [None, "first", "if_binary"])
def test_columns_of_genuine_encoders(drop: Any) -> None:
    numbers = np.array([[1.0, 5.0], [2.0, np.nan], [1.0, 5.0]])
    check_arrays(OneHotEncoder(drop=drop).fit(numbers))
    check_arrays(OneHotEncoder(drop=drop, min_frequency=3, max_categories=2).fit(WORDS))


@pytest.mark.parametrize(
    "step",
    [
        CountVectorizer(token_pattern="(a+)+$"),
        CountVectorizer(token_pattern="a*a*a*b"),
        FunctionTransformer(np.log1p, kw_args={"where": False}),
    ],
)
def test_parameters_that_take_time_or_show_memory(step: Any) -> None:
    with pytest.raises(ModelFileError, match="can't hold"):
        check_parameters(step)


def test_a_trial_is_not_left_to_the_file(tmp_path: Path, saved: Path) -> None:
    def change(name: str, old: bytes) -> bytes:
        if name == "mklkit.json":
            return json.dumps(json.loads(old) | {"trial": None}).encode()
        if not name.endswith(".npy"):
            return old
        array = np.load(io.BytesIO(old))
        return saved_array(np.concatenate([array, array])) if array.ndim else old

    path = copied(saved, tmp_path / "model.mkl", change)
    with pytest.raises(ModelFileError, match=r"model\.mkl is damaged"):
        load_model(path)


@pytest.mark.slow
def test_the_limits_leave_room_for_200_000_words(tmp_path: Path) -> None:
    words = np.arange(200_000).reshape(40, -1)
    texts = [" ".join(f"word{place}" for place in part) for part in words]
    model = make_pipeline(CountVectorizer(), TruncatedSVD(2), MKLClassifier("rbf"))
    save_model(model.fit(texts, [0, 1] * 20), tmp_path / "model.mkl")
    loaded = load_model(tmp_path / "model.mkl")
    assert loaded.predict(texts).tolist() == model.predict(texts).tolist()


@pytest.mark.parametrize("distances", [squared_distances, manhattan_distances])
def test_rows_of_different_widths_have_no_distances(distances: Any) -> None:
    with pytest.raises(ValueError, match="have no distances"):
        distances(np.zeros((2, 3)), np.zeros((2, 2)))
