"""Data sets come from a folder, from scikit-learn, or from a server that answers as OpenML."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from mklkit_papers import sources as openml
from mklkit_papers.entries import find_entries
from mklkit_papers.protocol import DataUse
from mklkit_papers.session import Session
from mklkit_papers.sources import KNOWN, OF_SCIKIT_LEARN, DataNotHere, OpenML, find_data
from openml_server import Answers, serving
from sklearn.datasets import _openml

from mklkit.errors import DataError

# Versions of scikit-learn before 1.9 have the second.
USUAL = re.compile(r"https://(www|api)\.openml\.org")


def frame_of(name: str) -> pd.DataFrame:
    """Return random data of the size that a set of the papers has, with the row number."""
    known = KNOWN[name]
    rng = np.random.default_rng(1)
    columns = {f"V{place}": rng.normal(size=known.rows) for place in range(known.features)}
    classes = [f"kind {place % known.classes}" for place in range(known.rows)]
    return pd.DataFrame({"row": np.arange(known.rows), **columns, "Class": classes})


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator[Answers]:
    """Have OpenML's addresses lead to a server on this machine, and a cache of its own."""
    monkeypatch.delenv("MKLKIT_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    answers = Answers(40, frame_of("sonar"))
    with serving(answers):
        redirect(monkeypatch, answers.address)
        yield answers


def redirect(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(openml, "ADDRESS", USUAL.sub(address, openml.ADDRESS))
    for name, value in vars(_openml).items():
        if name.startswith("_") and isinstance(value, str) and USUAL.match(value):
            monkeypatch.setattr(_openml, name, USUAL.sub(address, value))


def test_a_missing_set_is_fetched_once_and_kept(served, tmp_path):
    told: list[str] = []
    data = find_data("sonar", tmp_path, openml=OpenML(told.append))
    assert data.features.shape == (208, 60)
    np.testing.assert_allclose(data.features.to_numpy(), served.frame.iloc[:, 1:-1].to_numpy())
    assert data.target.tolist() == served.frame["Class"].tolist()
    assert data.name == "sonar"
    assert data.notes == ["from data set 40 of OpenML"]
    assert told == ["fetching data set 40 from OpenML"]
    number = len(served.asked)
    again = find_data("sonar", tmp_path, columns=7, openml=OpenML(told.append))
    assert again.features.shape == (208, 7)
    assert len(served.asked) == number
    assert len(told) == 1
    assert again.fingerprint() != data.fingerprint()


def test_it_is_as_from_a_file(served, tmp_path):
    # Of 17 digits, pandas before 3.1 reads the last ones otherwise.
    served.frame = served.frame.round(6)
    fetched = find_data("sonar", tmp_path, openml=OpenML(print))
    renamed = served.frame.drop(columns="row").rename(columns={"Class": "target"})
    renamed.to_csv(tmp_path / "sonar.csv", index=False)
    assert find_data("sonar", tmp_path).fingerprint() == fetched.fingerprint()


@pytest.mark.parametrize("place", ["folder", "variable", "scikit-learn"])
def test_a_set_that_is_there_is_not_fetched(served, tmp_path, monkeypatch, place):
    folder = None
    if place == "scikit-learn":
        assert len(find_data("iris", openml=OpenML(print)).target) == 150
    else:
        pd.DataFrame({"a": [1, 2], "target": ["x", "y"]}).to_csv(tmp_path / "sonar.csv")
        monkeypatch.setenv("MKLKIT_DATA", str(tmp_path if place == "variable" else "nowhere"))
        folder = tmp_path if place == "folder" else None
        assert len(find_data("sonar", folder, openml=OpenML(print)).target) == 2
    assert served.asked == []


def test_nothing_is_fetched_unasked(served, tmp_path):
    with pytest.raises(DataNotHere, match=r"there is no sonar\.csv or sonar\.csv\.gz in .*$"):
        find_data("sonar", tmp_path)
    # What OpenML has in another version is not offered.
    with pytest.raises(DataNotHere, match=r"in \S*$"):
        find_data("german", tmp_path, openml=OpenML(print))
    assert served.asked == []


def test_a_wrong_checksum_is_refused(served, tmp_path):
    served.checksum = "0" * 32
    with pytest.raises(DataNotHere, match=r"data set 40 of OpenML can't be used: .*checksum"):
        find_data("sonar", tmp_path, openml=OpenML(print))


def test_another_size_is_refused(served, tmp_path):
    served.frame = served.frame.iloc[1:, 2:]
    remark = "207 rows, 59 features, 2 classes instead of 208, 60, 2"
    with pytest.raises(DataNotHere, match=f"and data set 40 of OpenML has {remark}"):
        find_data("sonar", tmp_path, openml=OpenML(print))


def test_an_answer_that_is_none(served, tmp_path):
    served.number = 41
    with pytest.raises(DataNotHere, match="OpenML can't be reached: Not Found"):
        find_data("sonar", tmp_path, openml=OpenML(print))


def test_rows_with_gaps_are_left_out_where_the_papers_leave_them_out(served, tmp_path):
    whole = frame_of("breast_w")
    gaps = whole.iloc[:5].assign(V3=np.nan)
    served.number, served.frame = 15, pd.concat([gaps, whole], ignore_index=True)
    data = find_data("breast_w", tmp_path, openml=OpenML(print))
    assert data.features.shape == (683, 9)
    assert not data.features.isna().to_numpy().any()


def test_votes_are_numbers(served, tmp_path):
    served.number, served.frame = 56, frame_of("vote")
    votes = [f"V{place}" for place in range(16)]
    served.frame[votes] = np.where(served.frame[votes] > 0, "y", "n")
    served.frame.loc[0, "V0"] = None
    features = find_data("vote", tmp_path, openml=OpenML(print)).features
    assert features.iloc[0, 0] == 0
    assert set(features.to_numpy()[1:].ravel()) == {-1.0, 1.0}


def test_an_offline_machine_waits_for_one_answer_only(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    redirect(monkeypatch, f"http://127.0.0.1:{port}")
    told: list[str] = []
    session = Session(tmp_path, openml=OpenML(told.append))
    start = time.perf_counter()
    (table,) = find_entries(["price-2022-table6"])
    lines = list(table.lines(session))
    assert time.perf_counter() - start < 2
    assert [line.reason for line in lines] == [
        f"there is no {name}.csv or {name}.csv.gz in {tmp_path}, and OpenML can't be reached:"
        " Connection refused"
        for name in ("sonar", "ionosphere", "breast_w")
    ]
    assert told == []


def test_a_silent_server_is_given_up(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        redirect(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}")
        away = OpenML(print, patience=0.05)
        for name in ("sonar", "glass"):
            with pytest.raises(DataNotHere, match="OpenML can't be reached: timed out"):
                find_data(name, tmp_path, openml=away)
    assert socket.getdefaulttimeout() is None


def test_a_folder_of_data_that_can_not_be_made(served, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "file"))
    with pytest.raises(DataNotHere, match="can't be used: File exists"):
        find_data("sonar", tmp_path, openml=OpenML(print))


def test_files_of_another_size_are_used_with_a_remark(tmp_path):
    frame_of("sonar").drop(columns="row").iloc[:90].to_csv(tmp_path / "sonar.csv", index=False)
    session = Session(tmp_path)
    assert len(session.data(DataUse("Sonar", "sonar")).target) == 90
    remark = "CSV file sonar.csv has 90 rows, 60 features, 2 classes instead of 208, 60, 2"
    assert session.notes == {"Sonar": remark}


def test_what_is_known_of_sets():
    assert OF_SCIKIT_LEARN.keys() <= KNOWN.keys()
    numbers = [known.openml for known in KNOWN.values() if known.openml is not None]
    assert len(set(numbers)) == len(numbers)
    for name in OF_SCIKIT_LEARN:
        assert find_data(name).notes == []


def test_a_place_that_can_not_be_looked_at(tmp_path):
    with pytest.raises(DataError, match="File name too long"):
        find_data("a" * 300, tmp_path)
