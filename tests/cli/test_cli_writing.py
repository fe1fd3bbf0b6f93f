"""Where results go: a full disk, and files that only their owner may read."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from helpers.processes import FIXED, Fitted, Run

from mklkit.__main__ import main
from mklkit.datasets.formats import ENDINGS, WRITABLE
from mklkit.persistence.atomic import replacing

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no full device here")


@needs_full
@pytest.mark.parametrize(
    "arguments",
    ["fit {0.data} -k linear", "predict {0.model} {0.data}", "inspect {0.model} --json", "--help"],
)
def test_a_full_disk_behind_stdout_is_no_fault_of_ours(
    fitted: Fitted,
    arguments: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["mklkit", *arguments.format(fitted).split()])
    with FULL.open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as leaving:
            main()
    assert leaving.value.code == 2
    assert capsys.readouterr().err.endswith(
        "error: The output can't be written: No space left on device.\n"
    )


@needs_full
def test_a_full_disk_behind_a_device_is_no_fault_of_ours(mklkit: Run, fitted: Fitted) -> None:
    said = "/dev/full can't be written: No space left on device"
    mklkit("predict", fitted.model, fitted.data, "-o", FULL).refused(said)
    done = mklkit("fit", fitted.data, *FIXED, "-k", "linear", "-o", FULL)
    assert done.code == 2, done
    assert said in done.err


@pytest.mark.process
@needs_full
def test_a_full_disk_and_a_closed_pipe_end_a_process_by_its_exit_code() -> None:
    command = [sys.executable, "-m", "mklkit", "--version"]
    with FULL.open("wb") as full:
        assert subprocess.run(command, stdout=full, stderr=full, check=False).returncode == 2
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes by name here")
def test_a_pipe_by_name_that_nobody_reads_any_more(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)

    def write() -> None:
        with replacing(tmp_path / "pipe") as file:
            os.close(reading)
            file.write(b"prediction")

    with pytest.raises(BrokenPipeError):
        write()


def tabs(file: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(file), sep="\t")


@pytest.fixture(scope="module")
def probable(mklkit: Run, fitted: Fitted, tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """Return a model with several columns of results."""
    model = tmp_path_factory.mktemp("probable") / "model.mkl"
    done = mklkit("fit", fitted.data, *FIXED, "-k", "linear", "--probability", "-o", model)
    return Fitted(fitted.data, model, done)


@pytest.fixture(scope="module")
def shown(mklkit: Run, probable: Fitted) -> pd.DataFrame:
    """Return the predictions that the terminal shows."""
    return pd.read_csv(io.StringIO(mklkit("predict", probable.model, probable.data).out))


class TestFormats:
    @pytest.mark.parametrize(
        ("name", "read"),
        [
            ("p.csv", lambda file: pd.read_csv(io.BytesIO(file))),
            ("P.CSV.GZ", lambda file: pd.read_csv(io.BytesIO(gzip.decompress(file)))),
            ("p.tsv", tabs),
            ("p.tsv.gz", lambda file: tabs(gzip.decompress(file))),
            ("p.pq", lambda file: pd.read_parquet(io.BytesIO(file))),
            ("p.tsv.old", lambda file: pd.read_csv(io.BytesIO(file))),
        ],
    )
    def test_predictions_have_the_format_of_the_extension(
        self,
        mklkit: Run,
        probable: Fitted,
        shown: pd.DataFrame,
        tmp_path: Path,
        name: str,
        read: Callable[[bytes], pd.DataFrame],
    ) -> None:
        done = mklkit("predict", probable.model, probable.data, "-o", tmp_path / name)
        assert done.code == 0, done
        assert done.err.endswith(", as CSV\n") == name.endswith(".old")
        table = read((tmp_path / name).read_bytes())
        assert table.shape[1] > 1
        pd.testing.assert_frame_equal(table, shown)

    @pytest.mark.parametrize("ending", sorted({*ENDINGS} - {*WRITABLE}))
    def test_a_format_that_is_only_read_is_refused_by_name(
        self, mklkit: Run, fitted: Fitted, tmp_path: Path, ending: str
    ) -> None:
        out = tmp_path / f"p{ending}"
        mklkit("predict", fitted.model, fitted.data, "-o", out).refused("not written", *WRITABLE)
        assert not out.exists()


@pytest.mark.skipif(os.name == "nt", reason="no permissions for owner, group and others")
class TestPermissions:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
    def test_a_rewritten_file_keeps_them(
        self, mklkit: Run, fitted: Fitted, tmp_path: Path, mode: int
    ) -> None:
        out = tmp_path / "predictions.csv"
        out.write_text("old")
        out.chmod(mode)
        (tmp_path / "link.csv").symlink_to(out)
        for goal in (out, tmp_path / "link.csv"):
            assert mklkit("predict", fitted.model, fitted.data, "-o", goal).code == 0
            assert out.stat().st_mode & 0o777 == mode
        assert out.read_text().startswith("prediction,")
        assert (tmp_path / "link.csv").is_symlink()

    def test_a_new_file_has_those_of_any_new_file(
        self, mklkit: Run, fitted: Fitted, tmp_path: Path
    ) -> None:
        (tmp_path / "other").touch()
        assert mklkit("predict", fitted.model, fitted.data, "-o", tmp_path / "new.csv").code == 0
        assert (tmp_path / "new.csv").stat().st_mode == (tmp_path / "other").stat().st_mode
