"""Nothing in a model file is imported or run that is not trusted."""

from __future__ import annotations

import io
import pickle
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crafted import attacks, node, rewritten

from mklkit.errors import ModelFileError
from mklkit.persistence import load_model


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
