"""``mklkit list --json``: all that is known of each name."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from processes import Run, on_path, write_plugin

from mklkit.cli.list_names import KINDS, Listed
from mklkit.registry.registry import get_registry

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


@pytest.mark.parametrize("kind", Listed)
def test_everything_is_said_of_each_name(mklkit: Run, kind: Listed) -> None:
    registry = get_registry()
    listed = mklkit("list", kind.value, "--json").json
    entries = registry.entries(KINDS[kind])
    assert [one["name"] for one in listed] == [entry.name for entry in entries]
    for one, entry in zip(listed, entries, strict=True):
        assert (one["kind"], one["distribution"]) == (entry.kind, entry.distribution)
        assert one["help"]
        if kind is not Listed.presets:
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
    learners = {one["name"]: one for one in mklkit("list", "learners", "--json").json}
    assert learners["ridge"]["learns"] == learners["ridge"]["facts"]["tasks"]


def test_values_that_json_lacks_are_shown_as_text(mklkit: Run, tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "plugins", "odd", ODD)
    listed = mklkit("list", "kernels", "--json", **on_path(folder)).json
    [odd] = [one for one in listed if one["name"] == "odd"]
    assert odd["help"] == "As RBF, with width."
    assert odd["parameters"][0]["default"] == "{3}"
    assert odd["facts"]["search_space"] == {"width": [None, "{1, 2}"]}
