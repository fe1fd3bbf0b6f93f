"""What a plugin sets for the whole process is undone and named; what it raises never escapes."""

from __future__ import annotations

import locale
import os
import random
import re
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import GOOD, install, load

from mklkit.registry.registry import Registry


def no_filters() -> None:
    """Stand for what is looked at by itself."""


CHANGES: dict[str, tuple[str, str, Callable[[], Any]]] = {
    "errors": (
        "import warnings; warnings.simplefilter('error')",
        "the filters of warnings",
        no_filters,
    ),
    "silence": (
        "import warnings; warnings.resetwarnings()",
        "the filters of warnings",
        no_filters,
    ),
    "folder": ("import os; os.chdir(os.sep)", "the working folder", os.getcwd),
    "modules": ("import sys; sys.path.clear()", "sys.path", lambda: list(sys.path)),
    "interrupts": (
        # In the background it is ignored already: no change would be seen.
        "import signal; signal.signal(signal.SIGINT, lambda *given: None)",
        "the handling of signals",
        lambda: signal.getsignal(signal.SIGINT),
    ),
    "language": (
        "import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8')",
        "the locale",
        lambda: locale.setlocale(locale.LC_ALL),
    ),
    "recursion": (
        "import sys; sys.setrecursionlimit(54321)",
        "the limit of recursion",
        sys.getrecursionlimit,
    ),
    "seed": ("import random; random.seed(1)", "", random.getstate),
    "numpy_seed": (
        "import numpy; numpy.random.seed(1)",
        "",
        lambda: repr(np.random.get_bit_generator().state),
    ),
    "floats": (
        "import numpy; numpy.seterr(all='raise')",
        "NumPy's handling of errors",
        np.geterr,
    ),
    "printing": (
        "import numpy; numpy.set_printoptions(precision=1)",
        "NumPy's print options",
        np.get_printoptions,
    ),
}


def test_what_a_plugin_changes_is_undone_and_named(site: Path) -> None:
    for name, (source, _, _) in CHANGES.items():
        # In the function that gives the components, the change is as far as at the import.
        install(site, name, f"{source}\n{GOOD.format(name=name)}")
    Registry(third_party=False)  # What it imports may draw random numbers.
    before = {name: read() for name, (_, _, read) in CHANGES.items()}
    registry, warned = load()
    after = {name: read() for name, (_, _, read) in CHANGES.items()}
    for name, (_, what, _) in CHANGES.items():
        assert after[name] == before[name]
        told = [text for text in warned if f"'{name}' of mklkit-{name} changes {what}" in text]
        assert len(told) == bool(what)
        assert registry.create("combiner", name).name == name
    assert len(warned) == sum(bool(what) for _, what, _ in CHANGES.values())


def test_a_plugin_may_add_a_folder_of_modules(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    install(site, "vendor", "import sys; sys.path.append('more')\n" + GOOD.format(name="vendor"))
    _, warned = load()
    assert not warned
    assert sys.path[-1] == "more"


def test_what_a_plugin_left_out_has_changed_needs_no_further_warning(site: Path) -> None:
    install(site, "hasty", "import os; os.chdir(os.sep); 1 / 0")
    before = Path.cwd()
    _, [warned] = load()
    assert "ZeroDivisionError" in warned
    assert Path.cwd() == before


def test_a_long_import_is_named_with_its_time(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklkit.registry.registry.LONG_IMPORT", 0.2)
    install(site, "slow", "import time; time.sleep(0.3)\n" + GOOD.format(name="slow"))
    registry, warned = load()
    [warned] = [line for line in warned if "mklkit-slow" in line]
    assert re.search(r"plugin 'slow' of mklkit-slow takes 0\.[3-9] s to import", warned)
    assert registry.create("combiner", "slow").name == "slow"


def test_a_library_may_filter_its_own_warnings(site: Path) -> None:
    source = (
        "import warnings\nclass OwnWarning(UserWarning): ...\n"
        "warnings.simplefilter('always', OwnWarning)\n"
        "warnings.filterwarnings('ignore', module='mklkit_filter')\n"
    )
    install(site, "filter", source + GOOD.format(name="filter"))
    install(site, "errors", CHANGES["errors"][0] + GOOD.format(name="errors"))
    with warnings.catch_warnings(record=True):
        before = list(warnings.filters)
        registry = Registry()
        added = warnings.filters[: len(warnings.filters) - len(before)]
    assert [one[0] for one in added] == ["ignore", "always"]
    assert not registry.failures


def test_streams_outlive_a_plugin(site: Path, capfd: pytest.CaptureFixture[str]) -> None:
    closing = (
        "import os, sys\nfor one in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):\n"
        "    one.close()\n"
    )
    install(site, "closing", closing + GOOD.format(name="closing"))
    replacing = "import io, sys\nsys.stdout = sys.stderr = sys.__stdout__ = io.StringIO()\n"
    install(site, "replacing", replacing + GOOD.format(name="replacing"))
    install(site, "descriptors", "import os\nos.close(1)\nos.close(2)" + GOOD.format(name="low"))
    before = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__
    registry, warned = load()
    assert (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__) == before
    print("the answer")
    os.write(1, b"by descriptor\n")
    print("the talk", file=sys.stderr)
    captured = capfd.readouterr()
    assert captured.out == "the answer\nby descriptor\n"
    assert captured.err == "the talk\n"
    assert warned == []
    assert registry.create("combiner", "closing").name == "closing"


MUTE = """
class Secretive(type):
    __name__ = property(lambda cls: 1 / 0)
    def __repr__(cls): 1 / 0
class Odd({base}, metaclass=Secretive):
    __class__ = property(lambda self: 1 / 0)
    args = property(lambda self: 1 / 0)
    def __str__(self): raise SystemExit
    __repr__ = __str__
"""
ESCAPES = {
    "at_import": MUTE.format(base="BaseException") + "raise Odd\n",
    "in_hook": MUTE.format(base="Exception")
    + "from mklkit.plugin import hookimpl\n@hookimpl\ndef mklkit_kernels():\n    raise Odd()\n",
    "as_kernel": MUTE.format(base="object")
    + "from mklkit.plugin import hookimpl\n@hookimpl\ndef mklkit_kernels():\n    return [Odd()]\n",
    "as_class": MUTE.format(base="object")
    + "from mklkit.plugin import hookimpl\n@hookimpl\ndef mklkit_kernels():\n    return [Odd]\n",
    "as_type": MUTE.format(base="object") + "from mklkit.plugin import hookimpl\n"
    "@hookimpl\ndef mklkit_model_types():\n    return [Odd()]\n",
    "as_text": "class Odd(str):\n    partition = split = __getitem__ = __iter__ = None\n"
    "class Told(Exception):\n    def __str__(self): return Odd('told')\nraise Told\n",
    "as_argument": MUTE.format(base="object") + "raise ValueError(Odd(), Odd())\n",
}


def test_no_exception_escapes(site: Path) -> None:
    for name, source in ESCAPES.items():
        install(site, name, source)
    install(site, "zgood", GOOD.format(name="good"))
    registry, warned = load()
    assert {failure.name for failure in registry.failures} == set(ESCAPES)
    assert sorted(str(failure) for failure in registry.failures) == sorted(warned)
    assert registry.create("combiner", "good").name == "good"
