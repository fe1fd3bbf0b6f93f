"""The facts beside a model, and the versions among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from crafted import Check, copied, rewritten

from mklkit.errors import MKLKitWarning, ModelFileError
from mklkit.persistence import json_ready, load_model, read_metadata


def test_facts_from_numpy_become_plain() -> None:
    numbers = (np.int8(3), np.bool_(True), np.str_("x"), np.float64("inf"), 2**63, None)
    plain = json_ready({1: numbers, "a": np.eye(2), "b": {"c": []}})
    expected = {"1": [3, True, "x", None, 2**63, None], "a": [[1, 0], [0, 1]], "b": {"c": []}}
    assert json.loads(json.dumps(plain, allow_nan=False)) == expected
    with pytest.raises(TypeError, match="can't be stored"):
        json_ready({"f": len})


def of_versions(saved: Path, goal: Path, versions: dict[str, Any], **members: Any) -> Path:
    """Copy a model file that states other versions."""

    def change(metadata: dict[str, Any]) -> dict[str, Any]:
        return metadata | {"versions": metadata["versions"] | versions}

    return rewritten(saved, goal, mklkit=change, **members)


class TestVersions:
    def test_another_version_is_said(self, tmp_path: Path, saved: Path) -> None:
        path = of_versions(saved, tmp_path / "model.mkl", {"mklkit": "0.0.1"})
        with pytest.warns(MKLKitWarning, match=r"written with mklkit 0\.0\.1"):
            load_model(path)

    def test_a_newer_format_is_refused(self, check_refused: Check) -> None:
        check_refused("upgrade mklkit", mklkit=lambda metadata: metadata | {"format": 2})


class TestFactsOutOfAllProportion:
    def test_facts_nested_without_end(self, tmp_path: Path, saved: Path) -> None:
        deep: Any = 1
        for _ in range(950):
            deep = [deep]
        with pytest.raises(TypeError, match="nested more than 50 deep"):
            json_ready(deep)

        def nest(name: str, text: bytes) -> bytes:
            return text.replace(b'"toy"', b"[" * 950 + b"]" * 950)

        path = copied(saved, tmp_path / "model.mkl", nest)
        for read in (read_metadata, load_model):
            with pytest.raises(ModelFileError, match=r"is damaged: .*(nested|recursion)"):
                read(path)

    @pytest.mark.parametrize("version", ["7" * 5000, "1.0\n2", 3, [1], "\x1b[31m1.0"])
    def test_versions_that_are_none(self, tmp_path: Path, saved: Path, version: Any) -> None:
        for name in ("mklkit", "numpy"):
            path = of_versions(saved, tmp_path / "model.mkl", {name: version})
            with pytest.raises(ModelFileError, match="is damaged") as caught:
                load_model(path)
            assert len(str(caught.value)) < 300

    def test_another_scikit_learn_is_said_once(self, tmp_path: Path, saved: Path) -> None:
        def state(schema: dict[str, Any]) -> dict[str, Any]:
            text = json.dumps(schema)
            return json.loads(text.replace(f'"\\"{sklearn.__version__}\\""', '"\\"1.2.3\\""'))

        path = of_versions(saved, tmp_path / "model.mkl", {"scikit-learn": "1.2.3"}, schema=state)
        with pytest.warns(MKLKitWarning, match=r"written with scikit-learn 1\.2\.3") as warned:
            load_model(path)
        assert len(warned) == 1
