"""What users type for a file, and what may be in the way."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mklkit.datasets import load_table
from mklkit.datasets.paths import same_file, status, user_path
from mklkit.errors import DataError, MKLKitError
from mklkit.persistence import check_writable, read_metadata, replacing


def write(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"x")


USES = [load_table, check_writable, read_metadata, write]


@pytest.mark.parametrize("use", USES)
class TestWhateverIsDoneWithAPath:
    def test_a_name_too_long(self, tmp_path: Path, use: Callable[[Path], object]) -> None:
        with pytest.raises(MKLKitError, match="File name too long") as caught:
            use(tmp_path / ("a" * 300 + ".csv"))
        assert len(str(caught.value)) < 200

    def test_links_to_themselves(self, tmp_path: Path, use: Callable[[Path], object]) -> None:
        loop = tmp_path / "loop.csv"
        loop.symlink_to(loop)
        with pytest.raises(MKLKitError, match=r"loop\.csv can't be .*: (Too many|Symlink)"):
            use(loop)

    def test_a_closed_folder(
        self, tmp_path: Path, use: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        closed, real = tmp_path / "closed", os.stat

        def stat(path: object, *args: object, **options: object) -> os.stat_result:
            # Tests may run as a user whom no permission stops.
            if str(path).startswith(f"{closed}/"):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real(path, *args, **options)  # type: ignore[call-overload,no-any-return]

        monkeypatch.setattr(os, "stat", stat)
        with pytest.raises(MKLKitError, match=r"x\.csv can't be .*: Permission denied"):
            use(closed / "x.csv")


def test_a_home_of_nobody() -> None:
    with pytest.raises(DataError, match="'~nosuchuser'"):
        load_table("~nosuchuser/x.csv")
    assert user_path("~/x.csv") == Path.home() / "x.csv"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_before_it_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(DataError, match=r"is a pipe or a device.*write it to a file"):
        load_table(tmp_path / "rows.csv")


def test_one_file_by_two_names(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert same_file(tmp_path / "a", tmp_path / "b")
    assert same_file(tmp_path / "new", tmp_path / "." / "new")
    assert not same_file(tmp_path / "a", tmp_path / "new")
    assert status(tmp_path / "a" / "below a file") is None
