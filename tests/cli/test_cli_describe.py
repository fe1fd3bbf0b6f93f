"""``mklkit list`` and ``mklkit describe``: all that is known of each name."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from processes import Run, on_path, write_plugin

from mklkit.cli.describe import KINDS
from mklkit.kernels import Polynomial
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


ODD = """
import attrs
from mklkit.plugin import KernelFacts, hookimpl
from mklkit.protocols import Component

@attrs.frozen
class Odd(Component):
    '''As :class:`mklkit.kernels.RBF`, with ``width``.'''

    name = "odd"
    facts = KernelFacts(search_space={"width": (float("inf"), {1, 2})})
    width: object = attrs.field(factory=lambda: {3})

    def fit(self, rows):
        return rows

@hookimpl
def mklkit_kernels():
    return [Odd]
"""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "commands"])
def test_everything_is_said_of_each_name(mklkit: Run, kind: str) -> None:
    registry = get_registry()
    listed = mklkit("list", kind, "--json").json
    entries = registry.entries(KINDS[kind][0])
    assert [one["name"] for one in listed] == [entry.name for entry in entries]
    for one, entry in zip(listed, entries, strict=True):
        assert (one["kind"], one["distribution"]) == (entry.kind, entry.distribution)
        assert one["help"]
        if kind != "presets":
            fields = [field.name for field in attrs.fields(entry.target) if field.init]
            assert [parameter["name"] for parameter in one["parameters"]] == fields
            assert one["facts"].keys() >= {"search_space"}
    assert listed[0] in mklkit("describe", entries[0].name, "--json").json


def test_presets_have_their_choices_and_kernels_what_they_read(mklkit: Run) -> None:
    presets = {one["name"]: one for one in mklkit("list", "presets", "--json").json}
    [combiner] = [
        one["default"] for one in presets["paper-dimkl3"]["parameters"] if one["name"] == "combiner"
    ]
    assert combiner == "dimkl3"
    kernels = {one["name"]: one for one in mklkit("list", "kernels", "--json").json}
    assert kernels["rbf"]["facts"]["reads"] == kernels["rbf"]["reads"] == "numbers"
    assert not kernels["tanh"]["facts"]["definite"]
    assert kernels["cosine"]["reads"] == "as its kernel"
    learners = {one["name"]: one for one in mklkit("list", "learners", "--json").json}
    assert learners["ridge"]["learns"] == learners["ridge"]["facts"]["tasks"]


def test_values_that_json_lacks_are_shown_as_text(mklkit: Run, tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "plugins", "odd", ODD)
    listed = mklkit("list", "kernels", "--json", **on_path(folder)).json
    [odd] = [one for one in listed if one["name"] == "odd"]
    assert odd["help"] == "As RBF, with width."
    assert odd["parameters"][0]["default"] == "{3}"
    assert odd["facts"]["search_space"] == {"width": [None, "{1, 2}"]}
