"""Files that are cut, spoilt or foreign, and paths where there is no file to read."""

from __future__ import annotations

import io
import os
import shutil
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crafted import Check, copied, hiding, json_node, list_node, nodes, with_array

from mklkit.errors import ModelFileError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.persistence import load_model, read_metadata, save_model


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
        with pytest.raises(ModelFileError, match="no file"):
            load_model(tmp_path / "missing.mkl")

    @pytest.mark.parametrize(
        ("member", "content"),
        [
            *(("mklkit", metadata) for metadata in ([], {}, {"format": "1"}, None, 3)),
            *(("schema", schema) for schema in (None, [], {}, {"protocol": 0})),
            ("schema", {"protocol": 2, "__loader__": "NoSuchNode"}),
        ],
    )
    def test_json_of_another_shape(self, check_refused: Check, member: str, content: Any) -> None:
        check_refused("damaged", **{member: lambda _: content})

    def test_an_array_of_objects_is_not_advertised(self, tmp_path: Path, saved: Path) -> None:
        array = io.BytesIO()
        np.save(array, np.array([1, "a"], dtype=object))
        path = copied(saved, tmp_path / "model.mkl", with_array(array.getvalue()))
        with pytest.raises(ModelFileError, match="Python objects, which are never") as caught:
            load_model(path)
        assert "allow_pickle" not in str(caught.value)


class TestNoFileToRead:
    """A path where no model can be read is not called a damaged model."""

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.mkl")
        for read in (load_model, read_metadata):
            with pytest.raises(ModelFileError, match="is a pipe or a device"):
                read(tmp_path / "pipe.mkl")
        with pytest.raises(ModelFileError, match="null is a pipe or a device"):
            load_model("/dev/null")

    def test_names_that_lead_nowhere(self, tmp_path: Path, saved: Path) -> None:
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        for path, reason in [
            (tmp_path / "loop", "can't be opened: Too many levels of symbolic links"),
            (tmp_path / ("n" * 300), "can't be opened: File name too long"),
            (saved / "model.mkl", "There is no file"),
            (tmp_path / "a\0b", "can't be a path"),
        ]:
            with pytest.raises(ModelFileError, match=reason):
                load_model(path)

    def test_a_file_or_folder_without_permission(self, locked: Path, saved: Path) -> None:
        with pytest.raises(ModelFileError, match="can't be opened: Permission denied"):
            load_model(locked / "model.mkl")


class TestSizes:
    def test_a_bomb_is_refused_before_it_is_unpacked(self, tmp_path: Path, saved: Path) -> None:
        path = copied(
            saved, tmp_path / "model.mkl", method=zipfile.ZIP_DEFLATED, bomb=bytes(64 * 2**20)
        )
        assert path.stat().st_size < 2**20
        tracemalloc.start()
        for read in (load_model, read_metadata):
            with pytest.raises(ModelFileError, match=r"would unpack to 6\d,\d+,\d+, which"):
                read(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
        tracemalloc.stop()

    @pytest.mark.parametrize("member", ["schema.json", "mklkit.json"])
    def test_json_is_bounded_more_closely(self, check_refused: Check, member: str) -> None:
        def grow(name: str, content: bytes) -> bytes:
            return content + bytes(9 * 2**20) * (name == member)

        check_refused(r"would unpack to 9,\d+,\d+, which", grow)

    def test_an_archive_in_the_archive(self, check_refused: Check) -> None:
        bomb = io.BytesIO()
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.npy", bytes(65 * 2**20))
        check_refused(r"would unpack to \d+,\d+,\d+,?[\d]*, which", with_array(bomb.getvalue()))

    def test_one_array_read_many_times(self, check_refused: Check) -> None:
        def repeat(schema: dict[str, Any]) -> dict[str, Any]:
            arrays = [node for node in nodes(schema) if "npy" in str(node.get("file"))]
            copies = [arrays[0] | {"__id__": -place} for place in range(1, 9)]
            schema["content"]["content"]["memory"] = list_node(*copies)
            return schema

        check_refused("two objects are read from", schema=repeat)

    def test_a_directory_that_understates_sizes_is_not_believed(
        self, tmp_path: Path, saved: Path
    ) -> None:
        path = tmp_path / "model.mkl"
        size = 64 * 2**20
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
            bomb = next(name for name in old.namelist() if name.endswith(".npy"))
            for name in old.namelist():
                method = zipfile.ZIP_DEFLATED if name == bomb else zipfile.ZIP_STORED
                new.writestr(name, bytes(size) if name == bomb else old.read(name), method)
        path.write_bytes(path.read_bytes().replace(struct.pack("<I", size), struct.pack("<I", 9)))
        with zipfile.ZipFile(path) as archive:
            assert archive.getinfo(bomb).file_size == 9
        tracemalloc.start()
        with pytest.raises(ModelFileError, match=r"model\.mkl is not a model file"):
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
        tracemalloc.stop()

    def test_nested_references_are_not_followed(self, check_refused: Check) -> None:
        """A list of two references to a list of two references …: 2^40 visits of skops."""
        inner = list_node() | {"__id__": 1}
        for level in range(2, 42):
            inner = list_node(inner, {"__id__": level - 1}) | {"__id__": level}
        check_refused("two different nodes have the id", schema=hiding(inner))

    def test_more_nodes_than_a_file_of_that_size_has(self, check_refused: Check) -> None:
        many = list_node(*[json_node(1)] * 25_000)
        check_refused(r"would hold 2[56],\d+ parts", schema=hiding(many))

    @pytest.mark.process
    def test_many_alike_objects_can_be_saved(self, tmp_path: Path) -> None:
        model = MKLClassifier("linear").fit(np.eye(20), [0, 1] * 10)
        model.ballast_ = np.full(20_001, None)
        save_model(model, tmp_path / "model.mkl")
        assert len(load_model(tmp_path / "model.mkl").ballast_) == 20_001

    def test_members_that_the_model_does_not_use(self, tmp_path: Path, saved: Path) -> None:
        path = copied(saved, tmp_path / "model.mkl", a=b"", b=b"")
        with pytest.raises(ModelFileError, match=r"does not use 2 members such as 'a\.npy'"):
            load_model(path)

    def test_two_members_of_one_name(self, tmp_path: Path, saved: Path) -> None:
        path = tmp_path / "model.mkl"
        shutil.copy(saved, path)
        with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("mklkit.json", "{}")
        with pytest.raises(ModelFileError, match="two members with the same name"):
            load_model(path)

    @pytest.mark.process
    def test_honest_models_that_shrink_much_are_stored_as_they_are(self, tmp_path: Path) -> None:
        model = MKLClassifier("linear").fit(np.eye(20), [0, 1] * 10)
        model.ballast_ = np.zeros(9 * 2**20)
        save_model(model, tmp_path / "model.mkl")
        assert (tmp_path / "model.mkl").stat().st_size > 72 * 2**20
        assert load_model(tmp_path / "model.mkl").predict(np.eye(20)).tolist() == [0, 1] * 10
