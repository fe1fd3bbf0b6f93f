"""``mklkit describe``."""

from __future__ import annotations

from processes import Run

from mklkit.kernels import Polynomial
from mklkit.registry.entries import HOOKS
from mklkit.registry.registry import get_registry


def test_parameters_and_defaults_are_those_of_the_class(mklkit: Run) -> None:
    [found] = mklkit("describe", "polynomial(degree=3)", "--json").json
    assert (found["kind"], found["name"], found["distribution"]) == (
        "kernel",
        "polynomial",
        "mklkit",
    )
    defaults = {one["name"]: one["default"] for one in found["parameters"]}
    assert defaults == Polynomial().get_params()
    assert all(one["help"] for one in found["parameters"])
    assert not any(one["required"] for one in found["parameters"])
    shown = mklkit("describe", "polynomial").out
    assert "default 2" in shown
    [given] = mklkit("describe", "precomputed", "--json").json
    assert [one["name"] for one in given["parameters"]] == ["matrix", "path"]
    assert given["reads"] == "row ids"
    assert "reads   row ids" in mklkit("describe", "precomputed").out


def test_a_kernel_around_another_reads_what_that_reads(mklkit: Run) -> None:
    listed = {one["name"]: one["reads"] for one in mklkit("list", "kernels", "--json").json}
    assert listed["cosine"] == "as its kernel"
    assert listed["rbf"] == "numbers"
    assert "reads   as its kernel" in mklkit("describe", "cosine").out


def test_every_listed_name_is_described(mklkit: Run) -> None:
    for kind in HOOKS:
        entry = get_registry().entries(kind)[0]
        done = mklkit("describe", entry.name)
        assert done.code == 0, done
        assert entry.name in done.out


def test_near_misses_suggest_the_right_name(mklkit: Run) -> None:
    mklkit("describe", "dimk3").refused("Did you mean 'dimkl3'?", "mklkit list")
    mklkit("describe", "").refused("Nothing is named ''")


def test_descriptions_are_plain_text(mklkit: Run) -> None:
    for name in ("svm", "kda", "cluster-gating"):
        said = mklkit("describe", name, "--json").out
        assert "``" not in said
        assert ":func:" not in said
        assert ":class:" not in said
