"""Installed packages and plugins in every bad state: each is one warning, and the rest works."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.processes import write_plugin
from installed import GOOD, load

from mklkit import MKLKitError
from mklkit.registry.registry import Registry

# What stands in a file of the package's metadata; None where there is none.
DAMAGE: list[tuple[str, bytes | None]] = [
    ("METADATA", None),
    ("METADATA", b""),
    ("METADATA", b"Metadata-Version: 2.1\nVersion: 1.2\n"),
    ("METADATA", b"Metadata-Version: 2.1\nName: mklkit-hurt\n"),
    ("entry_points.txt", b"[mklkit]\nhurt\n"),
    ("entry_points.txt", b"[mklkit]\nhurt = mklkit_hurt\xff\xfe\n"),
    ("entry_points.txt", b"[mklkit]\nhurt =\n"),
    ("entry_points.txt", b"[mklkit]\nhurt = 1 + 1\n"),
    ("entry_points.txt", b"[mklkit]\nhurt = ???\n"),
    ("entry_points.txt", b"[mklkit]\nhurt = mklkit_hurt:nothing\n"),
]


@pytest.mark.parametrize(("file", "content"), DAMAGE)
def test_a_damaged_package_is_one_warning(site: Path, file: str, content: bytes | None) -> None:
    write_plugin(site, "hurt", GOOD.format(name="hurt"))
    damaged = site / "mklkit_hurt-1.2.dist-info" / file
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)
    write_plugin(site, "good", GOOD.format(name="good"))
    registry, warned = load()
    assert len(warned) == 1
    assert "mklkit-hurt" in warned[0]
    assert warned[0].isprintable()
    assert len(warned[0]) < 700
    assert registry.create("combiner", "good").name == "good"


def test_a_damaged_package_without_entry_points_is_nobodys_business(site: Path) -> None:
    info = write_plugin(site, "other", "") / "mklkit_other-1.2.dist-info"
    (info / "METADATA").unlink()
    (info / "entry_points.txt").unlink()
    assert load()[1] == []


def test_the_first_of_a_name_on_the_path_counts(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plugin(site, "twice", GOOD.format(name="later"), version="1.0")
    write_plugin(tmp_path / "user", "twice", GOOD.format(name="earlier"), version="2.0")
    monkeypatch.syspath_prepend(str(tmp_path / "user"))
    registry, warned = load()
    assert warned == []
    assert registry.lookup("combiner", "earlier").version == "2.0"
    with pytest.raises(MKLKitError):
        registry.lookup("combiner", "later")


def _registering(kind: str, value: str, head: str = "") -> str:
    """Return a plugin whose hook returns a value."""
    return (
        f"from mklkit.plugin import *\nfrom mklkit.plugin import hookimpl\n{head}\n"
        f"@hookimpl\ndef mklkit_{kind}():\n    return {value}\n"
    )


BASES = {
    "kernels": "Kernel",
    "feature_maps": "FeatureMap",
    "combiners": "Combiner",
    "learners": "Learner",
}


def _component(kind: str, body: str, name: str = "'half'", base: str | None = None) -> str:
    """Return a plugin of one class with a name, and the attributes and methods in ``body``."""
    base = BASES[kind] if base is None else base
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    head = "import attrs\n@attrs.frozen\n"
    head += f"class Half({base}):\n    '''Half made.'''\n    name = {name}\n{lines}\n"
    return _registering(kind, "[Half]", head)


def _preset(arguments: str) -> str:
    return _registering("presets", f"[Preset({arguments})]")


FIT_MAP = "def fit(self, kernel, rows, random_state): ..."
FIT_COMBINER = "def fit(self, views, target, learner, random_state): ..."
FIT_LEARNER = "def fit(self, side, target): ..."
KERNEL = "def fit(self, rows): ..."

BROKEN = {
    "absent": ("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such"),
    "syntax": ("def (:", "SyntaxError"),
    "long": ("raise ValueError('x' * 200_000)", "xxx… (200000 characters)"),
    "colored": ("raise ValueError('\\x1b[31mred')", "\\x1b[31mred"),
    "recursive": ("def f(): f()\nf()", "RecursionError"),
    "leaves": ("import sys\nsys.exit()", "SystemExit"),
    "nulls": ("\0", "ull bytes"),
    "encoding": ("# -*- coding: nothing -*-", "nothing"),
    "hookless": ("def mklkit_kernels():\n    return []", "it registers nothing"),
    "raising": (_registering("kernels", "1 / 0"), "ZeroDivisionError: division by zero"),
    "none": (_registering("kernels", "3"), "int"),
    "typeobject": (_registering("model_types", "[len]"), "must return classes"),
    "arguments": ("from mklkit.plugin import hookimpl\n@hookimpl\ndef mklkit_kernels(x): ...", "x"),
    "unknown": (_registering("unheard_of", "[]"), "mklkit_unheard_of"),
    # Classes: of bases, names, methods and traits.
    "instance": (
        _component("kernels", KERNEL).replace("[Half]", "[Half()]"),
        "mklkit.plugin.Kernel",
    ),
    "baseless": (_component("kernels", KERNEL, base="object"), "mklkit.plugin.Kernel"),
    "kind": (_component("learners", KERNEL, base="Kernel"), "mklkit.plugin.Learner"),
    "decorated": (
        "from mklkit.plugin import register\n"
        "@register\nclass Half:\n    name = 'half'\n    def fit(self, rows): ...\n",
        "the class Half has a name and 'fit', and derives from none of Kernel, FeatureMap",
    ),
    "undecorated": (
        _component("kernels", KERNEL).replace("@attrs.frozen\n", ""),
        "needs the decorator",
    ),
    "empty": (_component("kernels", KERNEL, "''"), "no valid 'name'"),
    "bell": (_component("kernels", KERNEL, "'be\\x07ll'"), "'be\\x07ll'"),
    "endless": (_component("kernels", KERNEL, "'e' * 5000"), "no valid 'name'"),
    "double": (_component("kernels", KERNEL).replace("[Half]", "[Half, Half]"), "'half' twice"),
    "kernelfew": (_component("kernels", "def fit(self): ..."), "must have fit(self, rows)"),
    "mapfew": (
        _component("feature_maps", f"traits = FeatureMapTraits(explicit=True)\n{KERNEL}"),
        "'half' must have fit(self, kernel, rows, random_state)",
    ),
    "learnerfit": (
        _component("learners", "traits = LearnerTraits(on_gram=True)\nfit = 3"),
        "'half' must have fit(self, side, target)",
    ),
    "abstract": (
        _component("combiners", "", base="WeightingCombiner"),
        "'half' does not implement weights",
    ),
    "rulefew": (
        _component("combiners", "def weights(self): ...", base="WeightingCombiner"),
        "'half' must have weights(self, views, y)",
    ),
    "mapless": (_component("feature_maps", FIT_MAP), "'half' must state valid traits"),
    "mapword": (
        _component("feature_maps", f"traits = FeatureMapTraits(explicit='yes')\n{FIT_MAP}"),
        "'explicit' must be bool (got 'yes'",
    ),
    "mapkernels": (
        _component("feature_maps", "traits = FeatureMapTraits(explicit=True, for_kernels='rbf')"),
        "'for_kernels' must be tuple (got 'rbf'",
    ),
    "learnerless": (_component("learners", FIT_LEARNER), "LearnerTraits(...); got None"),
    "learnernone": (
        _component("learners", f"traits = LearnerTraits()\n{FIT_LEARNER}"),
        "on_features or on_gram must be True",
    ),
    "learnerpairs": (
        _component(
            "learners", f"traits = LearnerTraits(on_gram=True, one_hot_classes=True)\n{FIT_LEARNER}"
        ),
        "one_hot_classes=True needs 'several classes' in learns",
    ),
    "combinerless": (
        _component("combiners", f"traits = KernelTraits()\n{FIT_COMBINER}"),
        "CombinerTraits(...); got KernelTraits",
    ),
    "combinerspec": (
        _component(
            "combiners", f"traits = CombinerTraits(feature_map='implicit(')\n{FIT_COMBINER}"
        ),
        "'implicit('",
    ),
    "combinercount": (
        _component("combiners", f"traits = CombinerTraits(n_kernels=0)\n{FIT_COMBINER}"),
        "n_kernels",
    ),
    "presetclass": (
        _registering("presets", "[Linear]", "from mklkit.kernels import Linear"),
        "Preset",
    ),
    "presetnone": (_preset("'half', 'Help.', None"), "'combiner' must be str (got None"),
    "presetkernel": (_preset("'half', 'Help.', 'uniform', ('rbf(',)"), "'rbf('"),
    "presetname": (_preset("'half a preset', 'Help.', 'uniform'"), "'half a preset'"),
}


def test_broken_plugins_are_one_warning_each(site: Path) -> None:
    for name, (source, _) in BROKEN.items():
        write_plugin(site, name, source)
    write_plugin(site, "zgood", GOOD.format(name="good"))
    registry, warned = load()
    said = {failure.name: str(failure) for failure in registry.failures}
    assert set(said) == set(BROKEN)
    assert sorted(warned) == sorted(said.values())
    for name, (_, part) in BROKEN.items():
        assert said[name].startswith(f"plugin '{name}' of mklkit-{name} is ignored: ")
        assert part in said[name]
        assert said[name].isprintable()
        assert len(said[name]) < 600
    assert registry.create("combiner", "good").name == "good"
    with pytest.raises(MKLKitError, match="No kernel is named 'half'"):
        registry.lookup("kernel", "half")


def test_one_name_in_two_modules_of_a_package_is_refused(site: Path) -> None:
    write_plugin(site, "first", GOOD.format(name="same"))
    (site / "mklkit_second.py").write_text(GOOD.format(name="same"))
    points = site / "mklkit_first-1.2.dist-info" / "entry_points.txt"
    points.write_text("[mklkit]\na = mklkit_first\nb = mklkit_second\n")
    registry, warned = load()
    assert len(warned) == 1
    assert "plugin 'b' of mklkit-first" in warned[0]
    assert "it has the combiner 'same' twice" in warned[0]
    assert registry.create("combiner", "same").name == "same"


def test_an_interrupt_ends_the_program(site: Path) -> None:
    write_plugin(site, "interrupted", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        Registry()


def test_what_a_plugin_prints_goes_to_stderr(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_hook = GOOD.format(name="noisy").replace(
        "    return [rule]", "    print(1234)\n    return [rule]"
    )
    write_plugin(site, "noisy", "print('by print')\n" + in_hook)
    registry, warned = load()
    print("the answer")
    out, err = capsys.readouterr()
    assert (out, warned) == ("the answer\n", [])
    assert "by print" in err
    assert "1234" in err
    assert registry.create("combiner", "noisy").name == "noisy"


def test_a_class_keeps_the_distribution_that_owns_it(site: Path) -> None:
    borrowing = (
        GOOD.format(name="borrowing") + "\nfrom mklkit.kernels import RBF\n"
        "@hookimpl\ndef mklkit_model_types():\n    return [RBF]\n"
    )
    write_plugin(site, "borrowing", borrowing)
    assert load()[0].distribution_of("mklkit.kernels.distances.RBF") == "mklkit"
