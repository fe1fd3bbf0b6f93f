"""Writing a file whole or not at all, wherever it is to go."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest

from mklkit.errors import DataError
from mklkit.persistence import check_writable, replacing


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
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


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_where_nothing_can_be_written_is_said_beforehand(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        check_writable(tmp_path / "missing" / "model.mkl")
    with pytest.raises(DataError, match="is a folder"):
        check_writable(tmp_path)
    check_writable(tmp_path / "model.mkl")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("write", [check_writable, lambda path: replacing(path).__enter__()])
class TestPathsThatNoFileCanHave:
    @pytest.mark.parametrize("name", ["n" * 300, "n" * 245, "a\0b", "loop", "loop/x", "~nobody/x"])
    def test_are_told_in_plain_words(self, tmp_path: Path, write: Any, name: str) -> None:
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        with pytest.raises(DataError, match="can't be written"):
            write(tmp_path / name)
        assert os.listdir(tmp_path) == ["loop"]

    def test_are_told_where_permission_lacks(self, locked: Path, write: Any) -> None:
        with pytest.raises(DataError, match="can't be written: Permission denied"):
            write(locked / "model.mkl")


def test_a_device_is_written_to_as_it_is() -> None:
    check_writable(Path(os.devnull))
    with replacing(Path(os.devnull)) as file:
        file.write(b"gone")


def write_forever(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        file.flush()
        time.sleep(60)


class TestPartFiles:
    def test_those_of_a_killed_process_go_with_the_next_save(self, tmp_path: Path) -> None:
        goal = tmp_path / "model.mkl"
        others = {".other.mkl.0123abcd.part", ".model.mkl.part", ".model.mkl.0123ABCD.part"}
        for name in others | {".model.mkl.0123abcd.part"}:
            (tmp_path / name).write_bytes(b"half")
        with replacing(goal) as file:
            file.write(b"whole")
        assert set(os.listdir(tmp_path)) == others | {"model.mkl"}

    def test_one_that_is_being_written_stays(self, tmp_path: Path) -> None:
        goal = tmp_path / "model.mkl"
        with replacing(goal) as first:
            first.write(b"first")
            with replacing(goal) as second:
                second.write(b"second")
            assert goal.read_bytes() == b"second"
        assert goal.read_bytes() == b"first"
        assert os.listdir(tmp_path) == ["model.mkl"]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_process_that_is_killed_gives_up_its_part_file(self, tmp_path: Path) -> None:
        goal = tmp_path / "model.mkl"
        process = multiprocessing.get_context("fork").Process(target=write_forever, args=(goal,))
        process.start()
        # What has been written to is locked; before that the file counts as nobody's.
        while not (parts := [p for p in tmp_path.glob(".model.mkl.*.part") if p.stat().st_size]):
            time.sleep(0.01)
        (part,) = parts
        with replacing(goal) as file:
            file.write(b"while it lives")
        assert part.exists()
        process.kill()
        process.join()
        with replacing(goal) as file:
            file.write(b"afterwards")
        assert os.listdir(tmp_path) == ["model.mkl"]
        assert goal.read_bytes() == b"afterwards"
