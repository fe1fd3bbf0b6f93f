"""``mklkit evaluate``."""

from __future__ import annotations

from pathlib import Path

from processes import Run


def test_report_is_quiet_in_a_pipe(mklkit: Run) -> None:
    done = mklkit("evaluate", "iris", "-l", "svm(C=1)", "--repeats", "2", "--folds", "3")
    assert done.code == 0, done
    assert done.err == ""
    assert "3 stratified folds, 2 times" in done.out
    assert "±" in done.out
    assert "balanced accuracy" in done.out


def test_a_useless_model_of_one_fold_is_asked_as_it_was_fitted(mklkit: Run, tmp_path: Path) -> None:
    # One of each kind in each ward.
    wards = "".join(f"{i // 2 % 5},ward {i // 2},{'ab'[i % 2]}\n" for i in range(24))
    (tmp_path / "a.csv").write_text("x,ward,kind\n" + wards)
    done = mklkit("evaluate", tmp_path / "a.csv", "--scale", "standard", "--folds", "2")
    assert done.code == 0, done
    assert "always predicting" in done.err
