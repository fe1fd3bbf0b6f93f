"""Training rows are recognised by identifiers, and by their values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklkit.datasets import training_digest
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.training_digest import KnownRows, as_text, digest_of, from_text, hashes_of_ids

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=50),
        "b": RNG.normal(size=50),
        "ward": RNG.choice(["north", "south"], 50),
    }
)
FRAME.loc[3, "a"] = np.nan


def known_by_values(training: pd.DataFrame, rows: pd.DataFrame) -> int:
    """Return how many rows are recognised."""
    known = KnownRows(TableEncoder().fit(training), np.zeros(0, np.uint64), len(training))
    known.add(rows[:5], None)
    known.add(rows[5:], None)
    return known.by_values


def test_rows_are_recognised_as_pandas_merges_them() -> None:
    changed = FRAME.copy()
    changed.loc[10:19, "a"] += 1
    changed.loc[20:24, "ward"] = changed.loc[20:24, "ward"].map(
        {"north": "south", "south": "north"}
    )
    expected = len(FRAME.drop(index=3).merge(changed.drop(index=3))) + 1
    assert known_by_values(FRAME, changed.sample(frac=1, random_state=0)) == expected == 35


def test_types_of_files_do_not_matter(tmp_path: Path) -> None:
    single = FRAME.astype({"a": np.float32, "b": np.float32})
    single.to_csv(tmp_path / "rows.csv", index=False)
    assert known_by_values(FRAME, single) == 50
    assert known_by_values(single, pd.read_csv(tmp_path / "rows.csv")) == 50


def test_rows_that_repeat_tell_nothing() -> None:
    assert known_by_values(FRAME[["ward"]].assign(n=np.arange(50) % 3), FRAME.assign(n=1)) == 0


def test_many_rows_are_counted_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_digest, "MOST", 20)
    ids = pd.Series([f"p{number}" for number in range(50)], name="patient")
    digest = digest_of(hashes_of_ids(ids))
    known = KnownRows(None, from_text(as_text(digest)), 50)
    known.add(FRAME, ids)
    (sentence,) = known.sentences()
    assert sentence.startswith(
        "at least 20 of 50 samples have the identifiers of training samples (by 'patient'): are"
    )
    other = KnownRows(None, digest, 50)
    other.add(FRAME, "q" + ids)
    assert other.sentences() == []


def test_equal_identifiers_are_a_question_and_equal_values_a_fact() -> None:
    numbers = pd.Series(np.arange(1, 51), name="id")
    encoder = TableEncoder().fit(FRAME)

    def told(rows: pd.DataFrame) -> list[str]:
        known = KnownRows(encoder, digest_of(hashes_of_ids(numbers)), 50)
        known.add(rows[:7], numbers[:7])
        known.add(rows[7:], numbers[7:])
        return known.sentences()

    other = FRAME.assign(a=RNG.normal(size=50))
    (question,) = told(other)
    assert question.startswith(
        "50 of 50 samples have the identifiers of training samples (by 'id') but"
    )
    assert "are they the same samples?" in question
    (fact,) = told(FRAME)
    assert fact.startswith(
        "50 of 50 samples are training samples of the model (with the same values)"
    )
    fact, question = told(pd.concat([FRAME[:49], other[49:]]))
    assert fact.startswith("49 of 50 samples are")
    assert question.startswith("1 of 50 samples has the identifier of")


@pytest.mark.parametrize("facts", [None, 3, "no digest!", "QQ==", ["a"]])
def test_other_facts_are_no_digest(facts: object) -> None:
    assert len(from_text(facts)) == 0
