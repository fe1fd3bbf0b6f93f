"""``mklkit list`` and ``mklkit describe``: facts about each name."""

from __future__ import annotations

import re
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
    assert re.search("reads +row ids", mklkit("describe", "precomputed").out)


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


@pytest.mark.parametrize("kind", ["kernels", "maps", "combiners", "learners", "missing"])
def test_every_component_has_a_cost_a_source_and_an_example(mklkit: Run, kind: str) -> None:
    for facts in mklkit("list", kind, "--json").json:
        told = {key for key in ("cost", "sources", "example") if facts[key]}
        assert told == {"cost", "sources", "example"}, facts["name"]


def test_sources_are_named_by_author_and_year(mklkit: Run) -> None:
    combiners = {facts["name"]: facts for facts in mklkit("list", "combiners", "--json").json}
    assert combiners["dimkl3"]["published"] == ["Price et al. 2022"]
    assert combiners["ifsl"]["published"] == ["Wang, Chen and Sun 2008", "Wang and Chen 2009"]
    assert "10.3390/math10122026" in combiners["dimkl3"]["sources"][0]
    kernels = {facts["name"]: facts for facts in mklkit("list", "kernels", "--json").json}
    assert kernels["hellinger"]["published"] == ["Jebara and Kondor 2003"]
    assert kernels["fixed-share"]["published"] == []
    shown = mklkit("describe", "alignment").out
    assert "Cristianini et al. 2001" in shown
    assert "sample weights, data in parts (partial_fit)" in shown
    assert "O(N²) per kernel" in shown
    assert ">>> MKLClassifier(kernels, combiner=Alignment())" in shown
