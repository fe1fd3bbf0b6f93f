"""``mklkit list`` and ``mklkit describe``: facts about each name."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from helpers.processes import Run, on_path, write_plugin

from mklkit.cli.describe import KINDS
from mklkit.kernels import Polynomial
from mklkit.registry.registry import get_registry


def test_parameters_and_defaults_are_those_of_the_class(mklkit: Run) -> None:
    [answer] = mklkit("describe", "polynomial(degree=3)", "--json").json
    assert (answer["kind"], answer["name"], answer["distribution"]) == (
        "kernel",
        "polynomial",
        "mklkit",
    )
    defaults = {parameter["name"]: parameter["default"] for parameter in answer["parameters"]}
    assert defaults == Polynomial().get_params()
    assert all(parameter["help"] for parameter in answer["parameters"])
    assert not any(parameter["required"] for parameter in answer["parameters"])
    shown = mklkit("describe", "polynomial").out
    assert "default 2" in shown
    [required] = mklkit("describe", "precomputed", "--json").json
    names = [parameter["name"] for parameter in required["parameters"]]
    assert names == ["matrix", "path", "new", "ids", "label"]
    assert required["reads"] == "row ids"
    assert "reads   row ids" in mklkit("describe", "precomputed").out


ODD = """
import attrs
from mklkit.plugin import Kernel, KernelTraits, hookimpl

@attrs.frozen
class Odd(Kernel):
    '''As :class:`mklkit.kernels.RBF`, with ``width``.'''

    name = "odd"
    traits = KernelTraits(search_space={"width": (float("inf"), {1, 2})})
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
    assert [facts["name"] for facts in listed] == [entry.name for entry in entries]
    for facts, entry in zip(listed, entries, strict=True):
        assert (facts["kind"], facts["distribution"]) == (entry.kind, entry.distribution)
        assert facts["help"]
        if kind != "presets":
            fields = [field.name for field in attrs.fields(entry.target) if field.init]
            assert [parameter["name"] for parameter in facts["parameters"]] == fields
            assert facts["traits"].keys() >= {"search_space"}
    assert listed[0] in mklkit("describe", entries[0].name, "--json").json


def test_presets_have_their_choices_and_kernels_what_they_read(mklkit: Run) -> None:
    presets = {entry["name"]: entry for entry in mklkit("list", "presets", "--json").json}
    [combiner] = [
        entry["default"]
        for entry in presets["paper-dimkl3"]["parameters"]
        if entry["name"] == "combiner"
    ]
    assert combiner == "dimkl3"
    kernels = {entry["name"]: entry for entry in mklkit("list", "kernels", "--json").json}
    assert kernels["rbf"]["traits"]["reads"] == kernels["rbf"]["reads"] == "numbers"
    assert not kernels["tanh"]["traits"]["definite"]
    assert kernels["cosine"]["reads"] == "as its kernel"
    learners = {entry["name"]: entry for entry in mklkit("list", "learners", "--json").json}
    assert learners["ridge"]["learns"] == learners["ridge"]["traits"]["learns"]


def test_values_that_json_lacks_are_shown_as_text(mklkit: Run, tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "plugins", "odd", ODD)
    listed = mklkit("list", "kernels", "--json", **on_path(folder)).json
    [odd] = [entry for entry in listed if entry["name"] == "odd"]
    assert odd["help"] == "As RBF, with width."
    assert odd["parameters"][0]["default"] == "{3}"
    assert odd["traits"]["search_space"] == {"width": [None, "{1, 2}"]}
